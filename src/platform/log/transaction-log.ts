import type { FinishedLine, ServerLog } from './server-log.ts'

/** What a turn says happened: kind, subject, data. */
type Happened = readonly [kind: string, subject: string, data: Readonly<Record<string, unknown>>]

interface Turn {
  readonly nodeId: string
  readonly events: readonly Happened[]
}

/** What became of a run, in the words of the log, by the state it came into. */
const OF_STATE: Readonly<Record<string, string>> = {
  waiting: 'accepted, waits',
  queued: 'queued',
  assigned: 'dispatched',
  running: 'dispatched',
  awaiting_callback: 'awaits its callback',
  stopping: 'is asked to stop',
  success: 'completed',
  failed: 'failed',
  timeout: 'failed',
  expired: 'failed',
  cancelled: 'cancelled',
  skipped: 'skipped',
  dropped: 'dropped',
  rejected: 'rejected',
}

const OF_KIND: Readonly<Record<string, string>> = {
  'schedule.changed': 'Schedule changed',
  'agent.changed': 'Agent changed',
  'budget.changed': 'Budget changed',
  'provider.changed': 'Provider changed',
  'lane.changed': 'Lane changed',
  'key.changed': 'Key changed',
  'member.changed': 'Member changed',
  'org.changed': 'Org changed',
  'message.merged': 'Message merged into a waiting run',
  'target.changed': 'Target changed',
  'secret.changed': 'Secret changed',
  'alert.raised': 'Alert raised',
  'alert.cleared': 'Alert cleared',
  'heartbeat.changed': 'Heartbeat',
}

/** Writes down what turns have done. */
export interface TurnLog {
  readonly hear: (orgId: string, turn: Turn) => void
  /** Writes what has been heard and not been written. */
  readonly flush: () => void
}

/** Events that are remembered until the next moment nobody is waited for; more than these are counted only. */
const MOST_HEARD = 200_000

/**
 * Writes from what was published after the commit: no turn waits for it, nor does anybody who waits for the answer of
 * one. When nobody reads at this level nothing is looked at. Each turn is written down by the node that took it.
 */
export function createTurnLog(log: Pick<ServerLog, 'log' | 'info' | 'isOn'>, ownId: () => string): TurnLog {
  let heard: (readonly [orgId: string, events: Turn['events']])[] = []
  let count = 0
  let lost = 0
  const flush = (): void => {
    const lines: FinishedLine[] = []
    for (const [orgId, events] of heard)
      for (const event of events) {
        const line = event[0] === 'run.changed' ? ofRun(orgId, event) : ofOther(orgId, event)
        if (line !== null) lines.push(line)
      }
    heard = []
    count = 0
    if (lines.length > 0) log.info(lines)
    if (lost > 0) log.log({ level: 'warn', message: 'More happened than could be written down', facts: { lost } })
    lost = 0
  }
  return {
    hear: (orgId, turn) => {
      if (turn.nodeId !== ownId() || !log.isOn('info')) return
      if (count + turn.events.length > MOST_HEARD) {
        lost += turn.events.length
        return
      }
      if (count === 0) setImmediate(flush)
      count += turn.events.length
      heard.push([orgId, turn.events])
    },
    flush,
  }
}

const TASK = 'tsk_'

/** By hand: there are three for every run. Ids, states and reasons have nothing in them that would need escaping. */
function ofRun(org: string, [, subject, data]: Happened): FinishedLine {
  const { status, reason, attempt, session } = data
  const isTask = subject.startsWith(TASK)
  const word = isRetry(data) ? 'will be tried again' : (OF_STATE[String(status)] ?? String(status))
  const about = typeof session === 'string' ? `,"session":${JSON.stringify(session)}` : ''
  const facts = `"org":${JSON.stringify(org)},"${isTask ? 'task' : 'run'}":"${subject}","status":"${String(status)}"`
  return [
    `${isTask ? 'Task' : 'Run'} ${word}`,
    `${facts},"reason":"${String(reason)}","attempt":${String(attempt)}${about}`,
  ]
}

/** A run that waits after a failed attempt is not new. */
const isRetry = ({ status, reason }: Happened[2]): boolean => status === 'waiting' && reason === 'retry_scheduled'

function ofOther(org: string, [kind, subject, data]: Happened): FinishedLine | null {
  const message = OF_KIND[kind]
  return message === undefined ? null : [message, JSON.stringify({ org, id: subject, ...data }).slice(1, -1)]
}
