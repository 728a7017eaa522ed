import type { ExplainAction, ExplainNext } from '../../features/explain/schema.ts'
import { formatInstant, type Instant } from '../../domain/instant.ts'
import type { Why } from '../../domain/reasons.ts'
import { isTerminal, type RunState } from '../../domain/run/run-machine.ts'
import type { RunRecord } from '../../store/run-record.ts'
import type { ScheduleRow } from '../../store/schedule-row.ts'

const path = (text: string): string => `/api/v1/${text}`
const part = encodeURIComponent
/** A session key may hold what a shell would understand. */
const word = (text: string): string => (/^[\w@:./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)

/** Everything that can be done about something, by a word for programs. */
export const ACTIONS = {
  cancel: (id: string): ExplainAction => ({
    ...{ action: 'cancel', sentence: 'End it.', method: 'POST', path: path(`runs/${part(id)}/cancel`) },
    command: `escapement runs cancel ${word(id)}`,
  }),
  retry: (id: string): ExplainAction => ({
    ...{ action: 'retry', sentence: 'Run it again.', method: 'POST', path: path(`runs/${part(id)}/retry`) },
    command: `escapement runs retry ${word(id)}`,
  }),
  retryAnyway: (id: string): ExplainAction => ({
    ...{ action: 'retry', sentence: 'Run it again, although it succeeded.', method: 'POST' },
    ...{ path: path(`runs/${part(id)}/retry`), command: `escapement runs retry ${word(id)} --force` },
  }),
  runNow: (id: string): ExplainAction => ({
    ...{ action: 'run_now', sentence: 'Make a run of the schedule now.', method: 'POST' },
    ...{ path: path(`schedules/${part(id)}/run-now`), command: `escapement schedules run ${word(id)}` },
  }),
  enable: (id: string): ExplainAction => ({
    ...{ action: 'enable', sentence: 'Switch the schedule on.', method: 'POST' },
    ...{ path: path(`schedules/${part(id)}/enable`), command: `escapement schedules enable ${word(id)}` },
  }),
  changeSchedule: (id: string, flag: string): ExplainAction => ({
    ...{ action: 'change_schedule', sentence: 'Give the schedule another policy or plan.', method: 'PATCH' },
    ...{ path: path(`schedules/${part(id)}`), command: `escapement schedules update ${word(id)} ${flag}` },
  }),
  growLane: (lane: string): ExplainAction => ({
    ...{ action: 'grow_lane', sentence: 'Give the lane more slots on every node (operator only).', method: 'PUT' },
    ...{ path: path(`lanes/${part(lane)}`), command: `escapement lanes set ${word(lane)} SIZE` },
  }),
  changeAgent: (id: string): ExplainAction => ({
    ...{ action: 'change_agent', sentence: 'Let the agent do more at once.', method: 'PATCH' },
    ...{ path: path(`agents/${part(id)}`), command: `escapement agents update ${word(id)} --max-concurrent N` },
  }),
  seeWorkers: (): ExplainAction => ({
    ...{ action: 'see_workers', sentence: 'See which workers are connected.', method: 'GET' },
    ...{ path: path('workers'), command: 'escapement workers' },
  }),
  seeBudget: (id: string): ExplainAction => ({
    ...{ action: 'see_budget', sentence: 'See what the budget has left, or change it.', method: 'GET' },
    ...{ path: path(`budgets/${part(id)}`), command: `escapement budgets get ${word(id)}` },
  }),
  seeProvider: (name: string): ExplainAction => ({
    ...{ action: 'see_provider', sentence: 'See what is left of the quotas of the provider, or change them.' },
    ...{ method: 'GET', path: path(`providers/${part(name)}`), command: `escapement providers get ${word(name)}` },
  }),
  stopSession: (key: string): ExplainAction => ({
    ...{ action: 'stop_session', sentence: 'Stop what the session is at.', method: 'POST' },
    ...{ path: path(`sessions/${part(key)}/stop`), command: `escapement sessions stop ${word(key)}` },
  }),
  changeSession: (key: string): ExplainAction => ({
    ...{ action: 'change_session', sentence: 'Let more wait in the session, or drop the oldest instead.' },
    ...{ method: 'PATCH', path: path(`sessions/${part(key)}`) },
    command: `escapement sessions update ${word(key)} --cap N`,
  }),
  enableTarget: (id: string): ExplainAction => ({
    ...{ action: 'enable_target', sentence: 'Switch the target on and send what is held for it.', method: 'POST' },
    ...{ path: path(`targets/${part(id)}/enable`), command: `escapement targets enable ${word(id)}` },
  }),
  retryDelivery: (id: string): ExplainAction => ({
    ...{ action: 'retry_delivery', sentence: 'Send it now.', method: 'POST' },
    ...{ path: path(`deliveries/${part(id)}/retry`), command: `escapement deliveries retry ${word(id)}` },
  }),
  askMoment: (at: string): ExplainAction => ({
    ...{ action: 'ask_moment', sentence: 'Ask about the nearest planned moment.', method: 'GET' },
    ...{ path: path(`explain?at=${part(at)}`), command: `escapement explain ${at}` },
  }),
} as const

/** Nothing follows by itself. */
export const NOTHING_FOLLOWS: ExplainNext = { sentence: 'Nothing follows by itself.', actions: [] }

/** What follows for a run, and what can be done about it. */
export function nextOfRun(run: RunRecord, why: Why, schedule: ScheduleRow | null): ExplainNext {
  const follows = followsFor(run, why, schedule)
  return { sentence: follows, actions: [...(REMEDIES[why.reason]?.({ run, why }) ?? []), ...usual(run)] }
}

function followsFor(run: RunRecord, why: Why, schedule: ScheduleRow | null): string {
  if (isTerminal(run.state)) return `It has ended. ${scheduleFollows(run, schedule)}`
  const end = run.deadline === null ? '' : ` Its deadline is ${formatInstant(run.deadline)}.`
  switch (run.state) {
    case 'running':
      return `It ends when its executor says so, or its time is up.${end}`
    case 'awaiting_callback':
      return `It ends when its callback comes, or its time is up.${end}`
    case 'stopping':
      return 'It ends as cancelled when its executor has stopped, or its grace has passed.'
    case 'assigned':
      return `A worker has taken it and is about to begin.${end}`
    case 'waiting':
    case 'queued': {
      const until =
        why.evidence['not_before'] ?? why.evidence['retry_at'] ?? why.evidence['until'] ?? why.evidence['held_until']
      return typeof until === 'string' && /^\d{4}-/.test(until)
        ? `It is looked at again at ${until}, and begins when every gate is open.${end}`
        : `It begins by itself as soon as every gate is open.${end}`
    }
  }
}

function scheduleFollows(run: RunRecord, schedule: ScheduleRow | null): string {
  if (run.scheduleId === null) return 'Nothing follows by itself.'
  if (schedule === null) return 'Its schedule is gone, so nothing follows by itself.'
  return planFollows(schedule)
}

/** What a schedule does next. */
const planFollows = ({ nextRunAt, state }: ScheduleRow): string =>
  nextRunAt === null ? `The schedule is ${state} and has no next moment.` : `Next moment: ${formatInstant(nextRunAt)}.`

const REPEATABLE: readonly RunState[] = ['failed', 'timeout', 'cancelled', 'skipped', 'expired', 'dropped', 'rejected']

function usual(run: RunRecord): readonly ExplainAction[] {
  if (run.state === 'success') return [ACTIONS.retryAnyway(run.id)]
  if (REPEATABLE.includes(run.state)) return [ACTIONS.retry(run.id)]
  return run.state === 'stopping' ? [] : [ACTIONS.cancel(run.id)]
}

interface Closed {
  readonly run: RunRecord
  readonly why: Why
}

const factOf = ({ why }: Closed, name: string): string | null => {
  const fact = why.evidence[name]
  return typeof fact === 'string' && fact !== '' ? fact : null
}

const given = <T>(value: T | null, action: (value: T) => ExplainAction): readonly ExplainAction[] =>
  value === null ? [] : [action(value)]

type Remedy = (closed: Closed) => readonly ExplainAction[]

const otherPolicy =
  (flag: string): Remedy =>
  ({ run }) =>
    given(run.scheduleId, (id) => ACTIONS.changeSchedule(id, flag))
const growLane: Remedy = (closed) => given(factOf(closed, 'lane'), ACTIONS.growLane)
const stopSession: Remedy = ({ run }) => given(run.sessionKey, ACTIONS.stopSession)
const changeSession: Remedy = ({ run }) => given(run.sessionKey, ACTIONS.changeSession)
const seeWorkers: Remedy = () => [ACTIONS.seeWorkers()]
const allowOverlap = otherPolicy('--overlap ALLOW')
const moreSlots = otherPolicy('--max-concurrency N')

/** What would open the gate that is closed, or let the next occurrence through. */
const REMEDIES: Partial<Readonly<Record<Why['reason'], Remedy>>> = {
  lane_full: growLane,
  org_share: growLane,
  agent_limit: (closed) =>
    closed.why.rule === 'agent.max_concurrent' ? given(factOf(closed, 'agent'), ACTIONS.changeAgent) : [],
  executor_offline: seeWorkers,
  worker_busy: seeWorkers,
  budget: (closed) => given(factOf(closed, 'budget'), ACTIONS.seeBudget),
  session_order: stopSession,
  session_limit: stopSession,
  awaiting_stop: stopSession,
  session_queue_full: changeSession,
  dropped: changeSession,
  overlap: allowOverlap,
  overlap_limit: allowOverlap,
  misfire: otherPolicy('--misfire FIRE_NOW'),
  failure: otherPolicy('--failure RUN_NEW'),
  concurrency: moreSlots,
  queue_full: moreSlots,
  schedule_limit: moreSlots,
}

/** What can be done about a schedule that did not fire. */
export function nextOfSchedule(schedule: ScheduleRow | null, at: Instant | null = null): ExplainNext {
  if (schedule === null) return NOTHING_FOLLOWS
  const { id, state } = schedule
  const actions = state === 'paused' ? [ACTIONS.enable(id), ACTIONS.runNow(id)] : [ACTIONS.runNow(id)]
  const isAhead = at !== null && schedule.nextRunAt !== null && at >= schedule.nextRunAt
  return { sentence: planFollows(schedule), actions: isAhead ? [] : actions }
}
