import type { Command } from 'commander'
import { crontabInput, importInput, type ImportedLine, type ImportOutcome, type ImportReport } from './schema.ts'
import type { Style } from '../../cli/output/style.ts'
import { oneLine } from '../../cli/output/text.ts'
import { namesOf, valuesOf, withFields } from '../../cli/remote/fields.ts'
import { readText } from '../../cli/remote/files.ts'
import { optionsOf } from '../../cli/remote/schema-options.ts'
import { printJson } from '../../cli/remote/show.ts'
import { commandOf, type CliContext, remote, type CliCall, UsageError } from '../../cli/remote/call.ts'
import { EXIT, type ExitCode, type Terminal } from '../../cli/terminal.ts'

const FLAGS = { text: null, target_id: '--deliver-to <id>' }
const IMPORT_FIELDS = optionsOf(importInput, FLAGS)
const CRONTAB_FIELDS = optionsOf(crontabInput, FLAGS)

/** `escapement import …`: imports schedules from files of other schedulers. */
export function addImport(group: Command, cli: CliContext): void {
  const crontab = commandOf(group, 'crontab <file>', 'import a crontab; - reads stdin')
  remote(cli, withFields(crontab, CRONTAB_FIELDS), {
    names: namesOf(CRONTAB_FIELDS),
    work: async (call, [file = ''], options) => {
      const text = await readContent(call.terminal, file)
      return showReport(
        call,
        await call.client.import.crontab({ text, ...valuesOf(CRONTAB_FIELDS, options, call.now) }),
      )
    },
  })
  const openclaw = commandOf(group, 'openclaw <file>', 'import cron/jobs.json from OpenClaw; - reads stdin')
  remote(cli, withFields(openclaw, IMPORT_FIELDS), {
    names: namesOf(IMPORT_FIELDS),
    work: async (call, [file = ''], options) => {
      const text = await readContent(call.terminal, file)
      return showReport(
        call,
        await call.client.import.openclaw({ text, ...valuesOf(IMPORT_FIELDS, options, call.now) }),
      )
    },
  })
}

async function readContent(terminal: Terminal, file: string): Promise<string> {
  const content = await readText(terminal, file)
  if (content.trim() === '') throw new UsageError(`${file} is empty`)
  return content
}

/** The label of each outcome. */
const OUTCOME_LABELS: Readonly<Record<ImportOutcome, string>> = {
  new: 'new',
  changed: 'changed',
  unchanged: 'unchanged',
  refused: 'refused',
  taken: 'applied',
  left_out: 'ignored',
}

const paintOutcome = (style: Style, outcome: ImportOutcome): string => {
  const word = OUTCOME_LABELS[outcome].padEnd(10)
  if (outcome === 'new' || outcome === 'changed') return style.green(word)
  if (outcome === 'refused') return style.red(word)
  return outcome === 'left_out' ? style.yellow(word) : style.dim(word)
}

/** Prints the report. A refused line makes the exit code 1, for scripts. */
async function showReport(call: CliCall, report: ImportReport): Promise<ExitCode> {
  const code = report.counts.refused > 0 ? EXIT.refused : EXIT.ok
  if (call.json) {
    await printJson(call, report)
    return code
  }
  const lines = report.lines.flatMap((line) => lineText(call.style, line))
  const counts = (Object.keys(OUTCOME_LABELS) as ImportOutcome[])
    .filter((outcome) => report.counts[outcome] > 0)
    .map((outcome) => `${report.counts[outcome]} ${OUTCOME_LABELS[outcome]}`)
  const end = report.plan ? 'Dry run: nothing was changed.' : 'Done.'
  await call.print(
    [...lines, ...(lines.length === 0 ? [] : ['']), `${counts.join(', ') || 'No entries'}. ${end}`, ''].join('\n'),
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
