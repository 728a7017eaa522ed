import type { Command } from 'commander'
import type { ImportedLine, ImportOutcome, ImportReport } from '../../contract/import.ts'
import type { Style } from '../output/style.ts'
import { oneLine } from '../output/text.ts'
import { namesOf, valuesOf, withFields, type FieldOption } from '../remote/fields.ts'
import { readText } from '../remote/files.ts'
import { printJson } from '../remote/show.ts'
import { remote, type Desk, type Talk } from '../remote/talk.ts'
import { UsageError } from '../remote/usage.ts'
import { EXIT, type ExitCode, type Terminal } from '../terminal.ts'
import { commandOf, groupOf } from './group.ts'

const FIELDS: readonly FieldOption[] = [
  { flags: '--plan', field: 'plan', stands: true, about: 'say what would become of it, and change nothing' },
  { flags: '--tz <zone>', field: 'timezone', about: 'where the clock hangs if the file does not say' },
  { flags: '--agent <id>', field: 'agent_id', about: 'the agent that gets all of it as prompts' },
  { flags: '--deliver-to <target>', field: 'target_id', about: 'the target that results go to' },
  { flags: '--disabled', field: 'disabled', stands: true, about: 'make schedules that are switched off' },
]

const CRONTAB_FIELDS: readonly FieldOption[] = [
  ...FIELDS,
  { flags: '--system', field: 'system', stands: true, about: 'lines have a field for the user, as /etc/crontab has' },
]

/** `escapement import …`: schedules from the files of other schedulers. */
export function addImport(program: Command, desk: Desk): void {
  const group = groupOf(program, 'import', 'take over schedules from the files of other schedulers')
  const crontab = withFields(commandOf(group, 'crontab <file>', 'take over a crontab; - reads stdin'), CRONTAB_FIELDS)
  remote(desk, crontab, {
    names: namesOf(CRONTAB_FIELDS),
    work: async (talk, [file = ''], options) => {
      const asked = valuesOf(CRONTAB_FIELDS, options, talk.terminal.now())
      return showReport(
        talk,
        await talk.client.import.crontab({ text: await contentOf(talk.terminal, file), ...asked }),
      )
    },
  })
  const openclaw = withFields(
    commandOf(group, 'openclaw <file>', "take over OpenClaw's cron/jobs.json; - reads stdin"),
    FIELDS,
  )
  remote(desk, openclaw, {
    names: namesOf(FIELDS),
    work: async (talk, [file = ''], options) => {
      const asked = valuesOf(FIELDS, options, talk.terminal.now())
      return showReport(
        talk,
        await talk.client.import.openclaw({ text: await contentOf(talk.terminal, file), ...asked }),
      )
    },
  })
}

async function contentOf(terminal: Terminal, file: string): Promise<string> {
  const content = await readText(terminal, file)
  if (content.trim() === '') throw new UsageError(`${file} is empty`)
  return content
}

/** What each outcome is called while it is only planned, and once it is done. */
const WORDS: Readonly<Record<ImportOutcome, string>> = {
  new: 'new',
  changed: 'changed',
  unchanged: 'unchanged',
  refused: 'refused',
  taken: 'taken over',
  left_out: 'left out',
}

const paintOutcome = (style: Style, outcome: ImportOutcome): string => {
  const word = WORDS[outcome].padEnd(10)
  if (outcome === 'new' || outcome === 'changed') return style.green(word)
  if (outcome === 'refused') return style.red(word)
  return outcome === 'left_out' ? style.yellow(word) : style.dim(word)
}

/** The report line by line. What was refused makes the exit code 1, so that a script notices. */
async function showReport(talk: Talk, report: ImportReport): Promise<ExitCode> {
  const code = report.counts.refused > 0 ? EXIT.refused : EXIT.ok
  if (talk.json) {
    await printJson(talk, report)
    return code
  }
  const lines = report.lines.flatMap((line) => lineText(talk.style, line))
  const counts = (Object.keys(WORDS) as ImportOutcome[])
    .filter((outcome) => report.counts[outcome] > 0)
    .map((outcome) => `${report.counts[outcome]} ${WORDS[outcome]}`)
  const end = report.plan ? 'This is a plan: nothing was changed.' : 'Done.'
  await talk.print(
    [...lines, ...(lines.length === 0 ? [] : ['']), `${counts.join(', ') || 'Nothing in it'}. ${end}`, ''].join('\n'),
  )
  return code
}

function lineText(style: Style, line: ImportedLine): readonly string[] {
  const place = String(line.line).padStart(4)
  const at = line.column === null ? '' : ` (column ${line.column})`
  const when = line.sentence === null ? '' : `  ${style.dim(oneLine(line.sentence))}`
  const name = oneLine(line.column === null ? (line.name ?? line.text) : line.text).trim()
  const id = line.schedule_id === null ? '' : `  ${style.dim(line.schedule_id)}`
  return [
    `${place}  ${paintOutcome(style, line.outcome)} ${name}${at}${when}${id}`,
    ...line.notes.map((note) => `${' '.repeat(17)}${style.dim('-')} ${oneLine(note)}`),
  ]
}
