import type { EventsFilter } from '../../client/events.ts'
import type { RunDetail } from '../../features/runs/schema.ts'
import { isTerminal } from '../../domain/run/run-machine.ts'
import { paintState } from '../output/style.ts'
import { manyLines, oneLine, valueText } from '../output/text.ts'
import { lengthText } from '../output/times.ts'
import { printJsonLine } from '../remote/show.ts'
import type { Talk } from '../remote/talk.ts'
import { EXIT, type ExitCode } from '../terminal.ts'
import { whySentence } from './explain-look.ts'

/** What `--wait` does where a command starts a run. */
export const ABOUT_WAIT = 'wait until it ends; the exit code is 1 unless it succeeds'

/**
 * Follows a run to its end. Events only say when to look: what is shown is the run as it is, so that nothing that
 * happened before the stream was open, or while it was interrupted, is missed.
 */
export async function followRun(talk: Talk, id: string): Promise<ExitCode> {
  const over = new AbortController()
  const shown = { steps: 0 }
  let looking: Promise<RunDetail | null> = Promise.resolve(null)
  let ended: RunDetail | null = null
  const look = (): Promise<RunDetail | null> => {
    looking = looking.then(async () => {
      if (ended !== null) return ended
      const run = await talk.client.runs.get(id)
      await showSteps(talk, run, shown)
      if (!isTerminal(run.status)) return null
      ended = run
      over.abort()
      return run
    })
    looking.catch((error: unknown) => over.abort(error))
    return looking
  }
  const filter = { run_id: id, kinds: ['run.changed'] as const }
  const options = { signal: over.signal, onOpen: () => void look() }
  for await (const _ of talk.client.events(filter, options)) await look()
  const run = await looking
  if (run === null) return EXIT.refused
  if (!talk.json) await showEnd(talk, run)
  return run.status === 'success' ? EXIT.ok : EXIT.refused
}

/** What is new since the last look: each step once. */
async function showSteps(talk: Talk, run: RunDetail, shown: { steps: number }): Promise<void> {
  for (const step of run.timeline.slice(shown.steps)) {
    const line = `${step.at}  ${paintState(talk.style, step.status)}${step.reason === null ? '' : `  ${talk.style.dim(step.reason)}`}`
    await (talk.json ? printJsonLine(talk, { run_id: run.id, ...step }) : talk.print(`${line}\n`))
  }
  shown.steps = Math.max(shown.steps, run.timeline.length)
}

async function showEnd({ print, style }: Talk, run: RunDetail): Promise<void> {
  const took = run.duration_ms === null ? '' : ` after ${lengthText(run.duration_ms)}`
  const error =
    run.error_code === null
      ? ''
      : ` (${[run.error_code, ...(run.error_message === null ? [] : [oneLine(run.error_message)])].join(': ')})`
  await print(`${run.id} ended ${paintState(style, run.status)}${took}${error}. ${whySentence(run.why)}\n`)
  if (run.output !== null) await print(`${manyLines(valueText(run.output))}\n`)
}

/** Follows everything that happens to runs, until it is ended. */
export async function followRuns(talk: Talk, filter: EventsFilter, most: number): Promise<void> {
  let seen = 0
  const options = { onOpen: () => void talk.note('Watching; Ctrl-C ends it.\n') }
  for await (const event of talk.client.events({ ...filter, kinds: ['run.changed'] }, options)) {
    if (talk.json) await printJsonLine(talk, event)
    else if (event.kind === 'reset') await talk.note('Some events were missed.\n')
    else await talk.print(runLine(talk, event))
    if ((seen += 1) >= most) return
  }
}

function runLine(
  { style }: Talk,
  event: { readonly at: string; readonly subject: string; readonly data: object },
): string {
  const { status, reason, session } = event.data as Readonly<Record<string, unknown>>
  const about = typeof session === 'string' ? `  ${style.dim(oneLine(session))}` : ''
  return `${event.at}  ${event.subject}  ${paintState(style, valueText(status))}  ${valueText(reason)}${about}\n`
}
