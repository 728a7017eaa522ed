import type { Command } from 'commander'
import { parseDuration, type DurationUnit } from '../../domain/duration.ts'
import type { ConfigValueView, ConfigView } from '../../contract/config/view.ts'
import type { Column } from '../../cli/output/table.ts'
import { valueText } from '../../cli/output/text.ts'
import { printJson, showList } from '../../cli/remote/show.ts'
import { remote, type Desk, type Talk } from '../../cli/remote/talk.ts'
import { UsageError } from '../../cli/remote/usage.ts'
import { EXIT, type ExitCode } from '../../cli/terminal.ts'

type Setting = ConfigValueView & { readonly path: string }

/** `escapement config …`: the configuration as it holds, and who said so. */
export function addConfig(group: Command, desk: Desk): void {
  const get = group.command('get [path]', { isDefault: true }).description('show settings and their sources')
  remote(desk, get, { work: async (talk, [path]) => showSettings(talk, await talk.client.config.get(), path ?? '') })
  const set = group
    .command('set <path> <value>')
    .description('change a setting on every node; durations such as 30m are allowed')
  remote(desk, set, {
    work: (talk, [path = '', value = '']) => change(talk, path, readValue(path, value)),
  })
  const unset = group
    .command('unset <path>')
    .description('remove a stored setting: file, environment or default apply again')
  remote(desk, unset, { work: (talk, [path = '']) => change(talk, path, null) })
}

async function change(talk: Talk, path: string, value: unknown): Promise<ExitCode> {
  const patch = path.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as Readonly<
    Record<string, unknown>
  >
  return showSettings(talk, await talk.client.config.update(patch), path)
}

const UNITS: readonly (readonly [suffix: string, unit: DurationUnit])[] = [
  ['_ms', 'ms'],
  ['_seconds', 'seconds'],
  ['_days', 'days'],
]

/** `30m` in the unit that the name of the setting ends with; numbers, truth values and JSON as what they are; else a text. */
function readValue(path: string, text: string): unknown {
  const unit = UNITS.find(([suffix]) => path.endsWith(suffix))?.[1]
  const duration = unit === undefined ? null : parseDuration(text, unit)
  if (duration !== null) return duration
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

const isUnder = (path: string, prefix: string): boolean =>
  prefix === '' || path === prefix || path.startsWith(`${prefix}.`)

async function showSettings(talk: Talk, view: ConfigView, prefix: string): Promise<ExitCode> {
  const settings = Object.entries(view.values)
    .filter(([path]) => isUnder(path, prefix))
    .map(([path, value]) => ({ path, ...value }))
  if (settings.length === 0) throw new UsageError(`"${prefix}" is no setting. escapement config lists all of them.`)
  if (talk.json) {
    await printJson(talk, { ...view, values: Object.fromEntries(settings.map(({ path, ...value }) => [path, value])) })
    return EXIT.ok
  }
  if (prefix === '') await talk.note(view.file === null ? 'No configuration file.\n' : `File: ${view.file}\n`)
  await showList(talk, { items: settings, next_cursor: null }, { columns: columnsOf(talk), none: '' })
  return EXIT.ok
}

const columnsOf = ({ style }: Talk): readonly Column<Setting>[] => [
  { title: 'SETTING', of: ({ path }) => path },
  { title: 'VALUE', of: ({ value }) => valueText(value), flexible: true },
  { title: 'FROM', of: ({ source }) => source, paint: (text) => (text === 'default' ? style.dim(text) : text) },
  {
    title: 'TAKES EFFECT',
    of: (setting) =>
      setting.hot
        ? 'at once'
        : 'after_restart' in setting && setting.after_restart !== undefined
          ? `after a restart: ${valueText(setting.after_restart)}`
          : 'after a restart',
  },
]
