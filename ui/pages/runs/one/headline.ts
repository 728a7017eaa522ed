import type { RunView } from '../../../../src/features/runs/schema.ts'
import type { Say } from '../../../texts/fill.ts'
import { spanText } from '../../../time/span.ts'

type Told = Pick<RunView, 'status' | 'created_at' | 'started_at' | 'duration_ms' | 'attempt' | 'first_attempt'>

/** How a run stands, in words: what a person would say about it first. */
export function headlineOf(run: Told, now: number, say: Say): string {
  const { status, duration_ms: duration, started_at: started } = run
  const attempts = run.attempt - run.first_attempt + 1
  const took = spanText(duration ?? 0, say)
  const since = (moment: string): string => spanText(Math.max(0, now - Date.parse(moment)), say)
  switch (status) {
    case 'success':
    case 'timeout':
      return say(`run.${status}`, { span: took })
    case 'failed':
      return attempts > 1 ? say('run.failedAttempts', { count: attempts }) : say('run.failed', { span: took })
    case 'cancelled':
      return duration === null ? say('run.cancelled') : say('run.cancelledAfter', { span: took })
    case 'waiting':
    case 'queued':
      return say(`run.${status}`, { span: since(run.created_at) })
    case 'running':
    case 'awaiting_callback':
      return say(`run.${status}`, { span: since(started ?? run.created_at) })
    case 'assigned':
    case 'stopping':
    case 'skipped':
    case 'dropped':
    case 'rejected':
    case 'expired':
      return say(`run.${status}`)
  }
}
