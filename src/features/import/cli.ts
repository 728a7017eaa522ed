import type { Command } from 'commander'
import { crontabInput, importInput, type ImportedLine, type ImportOutcome, type ImportReport } from './schema.ts'
import type { Style } from '../../cli/output/style.ts'
import { oneLine } from '../../cli/output/text.ts'
import { namesOf, valuesOf, withFields } from '../../cli/remote/fields.ts'
import { readText } from '../../cli/remote/files.ts'
import { optionsOf } from '../../cli/remote/schema-options.ts'
import { printJson } from '../../cli/remote/show.ts'
import { commandOf, remote, type Desk, type Talk } from '../../cli/remote/talk.ts'
import { UsageError } from '../../cli/remote/usage.ts'
import { EXIT, type ExitCode, type Terminal } from '../../cli/terminal.ts'

const FLAGS = { text: null, target_id: '--deliver-to <id>' }
const FIELDS = optionsOf(importInput, FLAGS)
const CRONTAB_FIELDS = optionsOf(crontabInput, FLAGS)

/** `escapement import …`: schedules from the files of other schedulers. */
export function addImport(group: Command, desk: Desk): void {
  const crontab = commandOf(group, 'crontab <file>', 'import a crontab; - reads stdin')
  remote(desk, withFields(crontab, CRONTAB_FIELDS), {
    names: namesOf(CRONTAB_FIELDS),
    work: async (talk, [file = ''], options) => {
      const text = await contentOf(talk.terminal, file)
      return showReport(
        talk,
        await talk.client.import.crontab({ text, ...valuesOf(CRONTAB_FIELDS, options, talk.now) }),
      )
    },
  })
  const openclaw = commandOf(group, 'openclaw <file>', 'import cron/jobs.json of OpenClaw; - reads stdin')
  remote(desk, withFields(openclaw, FIELDS), {
    names: namesOf(FIELDS),
    work: async (talk, [file = ''], options) => {
      const text = await contentOf(talk.terminal, file)
      return showReport(talk, await talk.client.import.openclaw({ text, ...valuesOf(FIELDS, options, talk.now) }))
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
