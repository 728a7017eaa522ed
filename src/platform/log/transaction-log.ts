import type { FinishedLine, ServerLog } from './server-log.ts'

/** An event of a transaction: kind, subject, data. */
type LoggedEvent = readonly [kind: string, subject: string, data: Readonly<Record<string, unknown>>]

interface LoggedTransaction {
  readonly nodeId: string
  readonly events: readonly LoggedEvent[]
}

/** The log message of a run by its new state. */
const RUN_MESSAGES: Readonly<Record<string, string>> = {
  waiting: 'accepted, waiting',
  queued: 'queued',
  assigned: 'dispatched',
  running: 'dispatched',
  awaiting_callback: 'waiting for its callback',
  stopping: 'stopping',
  success: 'completed',
  failed: 'failed',
  timeout: 'failed',
  expired: 'failed',
  cancelled: 'cancelled',
  skipped: 'skipped',
  dropped: 'dropped',
  rejected: 'rejected',
}

const EVENT_MESSAGES: Readonly<Record<string, string>> = {
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

/** Logs the events of transactions. */
export interface TransactionLog {
  readonly hear: (orgId: string, transaction: LoggedTransaction) => void
  /** Logs the buffered events. */
  readonly flush: () => void
}

/** Maximum number of events buffered until the event loop is idle; more are only counted. */
const MAX_NOTIFICATIONS = 200_000

/**
 * Logs published events after the commit, so that neither transactions nor their callers wait for it. Does nothing if the
 * level is off. Each transaction is logged by the node that ran it.
 */
export function createTransactionLog(
  log: Pick<ServerLog, 'log' | 'info' | 'isOn'>,
  ownId: () => string,
): TransactionLog {
  let buffered: (readonly [orgId: string, events: LoggedTransaction['events']])[] = []
  let count = 0
  let lost = 0
  const flush = (): void => {
    const lines: FinishedLine[] = []
    for (const [orgId, events] of buffered)
      for (const event of events) {
        const line = event[0] === 'run.changed' ? formatRunEvent(orgId, event) : formatOtherEvent(orgId, event)
        if (line !== null) lines.push(line)
      }
    buffered = []
    count = 0
    if (lines.length > 0) log.info(lines)
    if (lost > 0) log.log({ level: 'warn', message: 'Too many events to log all of them', facts: { lost } })
    lost = 0
  }
  return {
    hear: (orgId, transaction) => {
      if (transaction.nodeId !== ownId() || !log.isOn('info')) return
      if (count + transaction.events.length > MAX_NOTIFICATIONS) {
        lost += transaction.events.length
        return
      }
      if (count === 0) setImmediate(flush)
      count += transaction.events.length
      buffered.push([orgId, transaction.events])
    },
    flush,
  }
}

const TASK = 'tsk_'

/** Formats JSON by hand, because every run logs three lines. Ids, states and reasons need no escaping. */
function formatRunEvent(org: string, [, subject, data]: LoggedEvent): FinishedLine {
  const { status, reason, attempt, session } = data
  const isTask = subject.startsWith(TASK)
  const action = isRetry(data) ? 'will be retried' : (RUN_MESSAGES[String(status)] ?? String(status))
  const about = typeof session === 'string' ? `,"session":${JSON.stringify(session)}` : ''
  const facts = `"org":${JSON.stringify(org)},"${isTask ? 'task' : 'run'}":"${subject}","status":"${String(status)}"`
  return [
    `${isTask ? 'Task' : 'Run'} ${action}`,
    `${facts},"reason":"${String(reason)}","attempt":${String(attempt)}${about}`,
  ]
}

/** Whether a waiting run is a retry rather than new. */
const isRetry = ({ status, reason }: LoggedEvent[2]): boolean => status === 'waiting' && reason === 'retry_scheduled'

function formatOtherEvent(org: string, [kind, subject, data]: LoggedEvent): FinishedLine | null {
  const message = EVENT_MESSAGES[kind]
  return message === undefined ? null : [message, JSON.stringify({ org, id: subject, ...data }).slice(1, -1)]
}
