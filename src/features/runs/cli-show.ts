import { paintState } from '../../cli/output/style.ts'
import { type Column, renderTable } from '../../cli/output/table.ts'
import { manyLines, oneLine, valueText } from '../../cli/output/text.ts'
import { relativeTimeText, durationText, cliTimeText } from '../../cli/output/times.ts'
import type { CliCall } from '../../cli/remote/call.ts'
import { type Facts, printJsonLine } from '../../cli/remote/show.ts'
import { EXIT, type ExitCode } from '../../cli/terminal.ts'
import type { EventsFilter } from '../../client/events.ts'
import type { Page } from '../../api/page.ts'
import { entriesOfEvent } from '../../domain/run/log-entry.ts'
import { isTerminal } from '../../domain/run/run-machine.ts'
import { whySentence } from '../explain/cli-show.ts'
import type { RunComparison, RunDetail, RunLogEntry, RunView } from './schema.ts'

/** The help of `--wait` where a command starts a run. */
export const WAIT_DESCRIPTION = 'wait until the run ends; exit with code 1 unless it succeeds'

/**
 * Follows a run to its end. Events only trigger a read of the run, so that changes before the stream opened or during an
 * interruption are shown too.
 */
export async function followRun(call: CliCall, id: string): Promise<ExitCode> {
  const abort = new AbortController()
  const shown = { steps: 0 }
  let lastRead: Promise<RunDetail | null> = Promise.resolve(null)
  let ended: RunDetail | null = null
  const readRun = (): Promise<RunDetail | null> => {
    lastRead = lastRead.then(async () => {
      if (ended !== null) return ended
      const run = await call.client.runs.get(id)
      await showSteps(call, run, shown)
      if (!isTerminal(run.status)) return null
      ended = run
      abort.abort()
      return run
    })
    lastRead.catch((error: unknown) => abort.abort(error))
    return lastRead
  }
  const filter = { run_id: id, kinds: ['run.changed'] as const }
  const options = { signal: abort.signal, onOpen: () => void readRun() }
  for await (const _ of call.client.events(filter, options)) await readRun()
  const run = await lastRead
  if (run === null) return EXIT.refused
  if (!call.json) await showOutcome(call, run)
  return run.status === 'success' ? EXIT.ok : EXIT.refused
}

/** Prints the timeline steps that are not printed yet. */
async function showSteps(call: CliCall, run: RunDetail, shown: { steps: number }): Promise<void> {
  for (const step of run.timeline.slice(shown.steps)) {
    const line = `${step.at}  ${paintState(call.style, step.status)}${step.reason === null ? '' : `  ${call.style.dim(step.reason)}`}`
    await (call.json ? printJsonLine(call, { run_id: run.id, ...step }) : call.print(`${line}\n`))
  }
  shown.steps = Math.max(shown.steps, run.timeline.length)
}

async function showOutcome({ print, style }: CliCall, run: RunDetail): Promise<void> {
  const took = run.duration_ms === null ? '' : ` after ${durationText(run.duration_ms)}`
  const error =
    run.error_code === null
      ? ''
      : ` (${[run.error_code, ...(run.error_message === null ? [] : [oneLine(run.error_message)])].join(': ')})`
  await print(`${run.id}: ${paintState(style, run.status)}${took}${error}. ${whySentence(run.why)}\n`)
  if (run.output !== null) await print(`${manyLines(valueText(run.output))}\n`)
}

/** Prints log entries, each once: words as they are, log lines and steps on lines of their own. */
function createLogPrinter(call: CliCall, only: number | null): (entries: readonly RunLogEntry[]) => Promise<void> {
  const printed = new Set<string>()
  let isInLine = false
  const { style } = call
  const textOf = (entry: RunLogEntry): string => {
    const { kind, text, data, at, level, source } = entry
    const before = isInLine && kind !== 'output' ? '\n' : ''
    isInLine = kind === 'output' && !(text ?? '').endsWith('\n')
    if (kind === 'output') return manyLines(text ?? '')
    const head = [at, ...(level === null ? [] : [level]), ...(source === null ? [] : [source])].join(' ')
    const fields = data === null ? '' : ` ${oneLine(valueText(data))}`
    return `${before}${style.dim(head)}${text === null ? '' : `  ${oneLine(text)}`}${style.dim(fields)}\n`
  }
  return async (entries) => {
    for (const entry of entries) {
      if (printed.has(entry.id) || (only !== null && entry.attempt !== only)) continue
      printed.add(entry.id)
      await (call.json ? printJsonLine(call, entry) : call.print(textOf(entry)))
    }
  }
}

/** Prints the log of a run; with `follow`, until the run ends. Entries of the event stream are those of the log. */
export async function printLog(
  call: CliCall,
  id: string,
  { attempt, follow }: { readonly attempt: number | null; readonly follow: boolean },
): Promise<void> {
  const print = createLogPrinter(call, attempt)
  const printStored = async (): Promise<void> => {
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page: Page<RunLogEntry> = await call.client.runs.log(id, {
        ...{ limit: MAX_LOG_PAGE, ...(attempt === null ? {} : { attempt }) },
        ...(cursor === undefined ? {} : { cursor }),
      })
      await print(page.items)
      cursor = page.next_cursor
    }
  }
  if (!follow) return printStored()
  const abort = new AbortController()
  let lastRead = Promise.resolve()
  const then = (next: () => Promise<void>): void => {
    lastRead = lastRead.then(next)
    lastRead.catch((error: unknown) => abort.abort(error))
  }
  const readAll = async (): Promise<void> => {
    const { status } = await call.client.runs.get(id)
    await printStored()
    if (isTerminal(status)) abort.abort()
  }
  const filter = { run_id: id, kinds: ['run.changed', 'run.output'] as const }
  for await (const event of call.client.events(filter, { signal: abort.signal, onOpen: () => then(readAll) })) {
    const entries = event.kind === 'run.output' ? entriesOfEvent(event) : null
    then(entries === null ? readAll : () => print(entries))
  }
  await lastRead
}

const MAX_LOG_PAGE = 1_000

/** Two runs side by side, then the lines of their outputs that differ. */
export function comparisonText(call: CliCall, { a, b, changes, output }: RunComparison): string {
  const { style } = call
  const span = (ms: number | null): string => (ms === null ? '-' : durationText(ms))
  const rows = [
    ['status', paintState(style, a.status), paintState(style, b.status), ''],
    ['duration', span(a.duration_ms), span(b.duration_ms), signed(changes.duration_ms, (ms) => durationText(ms))],
    ['input tokens', valueText(a.usage?.input_tokens), valueText(b.usage?.input_tokens), signed(changes.input_tokens)],
    [
      'output tokens',
      valueText(a.usage?.output_tokens),
      valueText(b.usage?.output_tokens),
      signed(changes.output_tokens),
    ],
    ['cost', valueText(a.usage?.cost), valueText(b.usage?.cost), signed(changes.cost)],
  ] as const
  const table = [
    { title: '', value: ([name]: (typeof rows)[number]) => name },
    { title: a.id, value: ([, value]: (typeof rows)[number]) => value },
    { title: b.id, value: ([, , value]: (typeof rows)[number]) => value },
    { title: 'CHANGE', value: ([, , , value]: (typeof rows)[number]) => value },
  ]
  const lines = output.map(({ change, text: line }) => {
    const text = oneLine(line)
    if (change === 'same') return style.dim(`  ${text}`)
    return change === 'added' ? style.green(`+ ${text}`) : style.red(`- ${text}`)
  })
  return `${renderTable(table, rows, call)}${lines.length === 0 ? '' : `\n${lines.join('\n')}\n`}`
}

const signed = (value: number | null, text: (value: number) => string = String): string =>
  value === null ? '-' : value < 0 ? `-${text(-value)}` : `+${text(value)}`

/** Follows the changes of all runs. */
export async function followRuns(call: CliCall, filter: EventsFilter, maxCount: number): Promise<void> {
  let seen = 0
  const options = { onOpen: () => void call.note('Watching runs. Press Ctrl-C to stop.\n') }
  for await (const event of call.client.events({ ...filter, kinds: ['run.changed'] }, options)) {
    if (call.json) await printJsonLine(call, event)
    else if (event.kind === 'reset') await call.note('Some events were missed.\n')
    else await call.print(runLine(call, event))
    if ((seen += 1) >= maxCount) return
  }
}

function runLine(
  { style }: CliCall,
  event: { readonly at: string; readonly subject: string; readonly data: object },
): string {
  const { status, reason, session } = event.data as Readonly<Record<string, unknown>>
  const about = typeof session === 'string' ? `  ${style.dim(oneLine(session))}` : ''
  return `${event.at}  ${event.subject}  ${paintState(style, valueText(status))}  ${valueText(reason)}${about}\n`
}

export const NO_RUNS = 'No runs. Start one: escapement schedules run ID'

/** The table columns of runs. */
export const runColumns = ({ now, style }: CliCall): readonly Column<RunView>[] => [
  { title: 'ID', value: ({ id }) => id },
  { title: 'STATUS', value: ({ status }) => status, paint: (text) => paintState(style, text) },
  { title: 'REASON', value: ({ reason }) => valueText(reason), flexible: true },
  { title: 'TRIGGER', value: ({ trigger }) => trigger },
  { title: 'AGENT', value: ({ agent_id }) => agent_id, flexible: true },
  { title: 'CREATED', value: ({ created_at }) => relativeTimeText(created_at, now) },
  {
    title: 'DURATION',
    value: ({ duration_ms }) => (duration_ms === null ? '-' : durationText(duration_ms)),
    right: true,
  },
  { title: 'RESULT', value: resultOf, flexible: true },
]

const resultOf = (run: RunView): string =>
  run.error_message ?? run.error_code ?? valueText(run.result_summary ?? run.output)

const deliveriesText = ({ deliveries }: RunDetail): string =>
  deliveries.map(({ id, status, sentence }) => `${id}  ${status}  ${oneLine(sentence)}`).join('\n')

/** The facts of a run. */
export function runFacts({ now, style }: CliCall, run: RunDetail): Facts {
  const attempts = run.attempts.map(
    ({ number, status, node_id, error_message }) =>
      `${number}  ${paintState(style, status ?? 'running')}  on ${node_id ?? 'no node'}${error_message === null ? '' : `  ${oneLine(error_message)}`}`,
  )
  const timeline = run.timeline.map(
    ({ at, status, reason }) => `${at}  ${paintState(style, status)}${reason === null ? '' : `  ${style.dim(reason)}`}`,
  )
  return [
    ['id', run.id],
    ['status', paintState(style, run.status)],
    ['why', whySentence(run.why)],
    ['trigger', run.trigger],
    ['agent', run.agent_id],
    ['schedule', run.schedule_id],
    ['session', run.session_key === null ? null : oneLine(run.session_key)],
    ['agent session', run.agent_session_id === null ? null : oneLine(run.agent_session_id)],
    ['agent message', run.agent_message_id === null ? null : oneLine(run.agent_message_id)],
    ['scheduled for', cliTimeText(run.nominal_time, now)],
    ['created', cliTimeText(run.created_at, now)],
    ['duration', run.duration_ms === null ? null : durationText(run.duration_ms)],
    ['retry of', run.retry_of],
    [
      'edited',
      run.edits === null
        ? null
        : `${run.edits.parts.join(', ')}${run.edits.model === null ? '' : `; model ${oneLine(run.edits.model)}`}`,
    ],
    [
      'error',
      run.error_code === null
        ? null
        : [run.error_code, ...(run.error_message === null ? [] : [manyLines(run.error_message)])].join(': '),
    ],
    ['agent error code', run.agent_error_code === null ? null : oneLine(run.agent_error_code)],
    ['summary', run.result_summary === null ? null : manyLines(valueText(run.result_summary))],
    ['output', run.output === null ? null : manyLines(valueText(run.output))],
    ['attempts', attempts.length === 0 ? 'none' : attempts.join('\n')],
    ['deliveries', run.deliveries.length === 0 ? null : deliveriesText(run)],
    ['timeline', timeline.join('\n')],
  ]
}

/** The reply to a message, or why there is none. */
export function replyText({ style }: Pick<CliCall, 'style'>, run: RunView): string {
  if (run.status === 'success') return manyLines(valueText(replyOf(run.output)))
  const error = run.error_message === null ? '' : `: ${oneLine(run.error_message)}`
  return `${paintState(style, run.status)} (${run.error_code ?? run.reason ?? 'unknown reason'})${error}`
}

/** The text of a reply; echo agents return the message object, which contains it. */
export function replyOf(output: unknown): unknown {
  const said = typeof output === 'object' && output !== null && 'text' in output ? output.text : output
  return typeof said === 'string' ? said : output
}
