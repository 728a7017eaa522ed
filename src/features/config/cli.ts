import { parseDuration, type DurationUnit } from '../../domain/duration.ts'
import type { Command } from 'commander'
import type { ConfigValueView, ConfigView } from '../../platform/config/view.ts'
import type { Column } from '../../cli/output/table.ts'
import { valueText } from '../../cli/output/text.ts'
import { printJson, showList } from '../../cli/remote/show.ts'
import { type CliContext, remote, type CliCall, UsageError } from '../../cli/remote/call.ts'
import { EXIT, type ExitCode } from '../../cli/terminal.ts'

type Setting = ConfigValueView & { readonly path: string }

/** `escapement config …`: the settings in force and their sources. */
export function addConfig(group: Command, cli: CliContext): void {
  const get = group.command('get [path]', { isDefault: true }).description('show settings and their sources')
  remote(cli, get, { work: async (call, [path]) => showSettings(call, await call.client.config.get(), path ?? '') })
  const set = group
    .command('set <path> <value>')
    .description('set a setting on every node; accepts durations such as 30m')
  remote(cli, set, {
    work: (call, [path = '', value = '']) => changeSetting(call, path, readValue(path, value)),
  })
  const unset = group
    .command('unset <path>')
    .description('remove a stored setting, so that the file, environment or default applies')
  remote(cli, unset, { work: (call, [path = '']) => changeSetting(call, path, null) })
}

async function changeSetting(call: CliCall, path: string, value: unknown): Promise<ExitCode> {
  const patch = path.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as Readonly<
    Record<string, unknown>
  >
  return showSettings(call, await call.client.config.update(patch), path)
}

const UNITS: readonly (readonly [suffix: string, unit: DurationUnit])[] = [
  ['_ms', 'ms'],
  ['_seconds', 'seconds'],
  ['_days', 'days'],
]

/** Reads a duration in the unit of the setting's suffix, otherwise JSON, otherwise a string. */
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

async function showSettings(call: CliCall, view: ConfigView, prefix: string): Promise<ExitCode> {
  const settings = Object.entries(view.values)
    .filter(([path]) => isUnder(path, prefix))
    .map(([path, value]) => ({ path, ...value }))
  if (settings.length === 0)
    throw new UsageError(`Unknown setting "${prefix}". List all settings with: escapement config`)
  if (call.json) {
    await printJson(call, { ...view, values: Object.fromEntries(settings.map(({ path, ...value }) => [path, value])) })
    return EXIT.ok
  }
  if (prefix === '') await call.note(view.file === null ? 'No configuration file.\n' : `File: ${view.file}\n`)
  await showList(call, { items: settings, next_cursor: null }, { columns: columnsOf(call), none: '' })
  return EXIT.ok
}

const columnsOf = ({ style }: CliCall): readonly Column<Setting>[] => [
  { title: 'SETTING', value: ({ path }) => path },
  { title: 'VALUE', value: ({ value }) => valueText(value), flexible: true },
  { title: 'SOURCE', value: ({ source }) => source, paint: (text) => (text === 'default' ? style.dim(text) : text) },
  {
    title: 'TAKES EFFECT',
    value: (setting) =>
      setting.hot
        ? 'immediately'
        : 'after_restart' in setting && setting.after_restart !== undefined
          ? `after a restart: ${valueText(setting.after_restart)}`
          : 'after a restart',
  },
]
