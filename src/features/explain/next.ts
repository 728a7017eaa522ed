import type { ExplainAction, ExplainNext } from './schema.ts'
import { formatInstant, type Instant } from '../../domain/instant.ts'
import type { Why } from '../../domain/reasons.ts'
import { isTerminal, type RunState } from '../../domain/run/run-machine.ts'
import type { RunRecord } from '../runs/record-store.ts'
import type { ScheduleRow } from '../schedules/store.ts'

const apiPath = (text: string): string => `/api/v1/${text}`
const encodePart = encodeURIComponent
/** Quotes an id that contains characters special to a shell, such as a session key. */
const shellWord = (text: string): string => (/^[\w@:./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)

/** All possible actions by their machine-readable names. */
export const ACTIONS = {
  cancel: (id: string): ExplainAction => ({
    ...{
      action: 'cancel',
      sentence: 'Cancel the run.',
      method: 'POST',
      path: apiPath(`runs/${encodePart(id)}/cancel`),
    },
    command: `escapement runs cancel ${shellWord(id)}`,
  }),
  retry: (id: string): ExplainAction => ({
    ...{ action: 'retry', sentence: 'Retry the run.', method: 'POST', path: apiPath(`runs/${encodePart(id)}/retry`) },
    command: `escapement runs retry ${shellWord(id)}`,
  }),
  retryAnyway: (id: string): ExplainAction => ({
    ...{ action: 'retry', sentence: 'Retry the run although it succeeded.', method: 'POST' },
    ...{ path: apiPath(`runs/${encodePart(id)}/retry`), command: `escapement runs retry ${shellWord(id)} --force` },
  }),
  runNow: (id: string): ExplainAction => ({
    ...{ action: 'run_now', sentence: 'Run the schedule now.', method: 'POST' },
    ...{ path: apiPath(`schedules/${encodePart(id)}/run-now`), command: `escapement schedules run ${shellWord(id)}` },
  }),
  enable: (id: string): ExplainAction => ({
    ...{ action: 'enable', sentence: 'Enable the schedule.', method: 'POST' },
    ...{ path: apiPath(`schedules/${encodePart(id)}/enable`), command: `escapement schedules enable ${shellWord(id)}` },
  }),
  changeSchedule: (id: string, flag: string): ExplainAction => ({
    ...{ action: 'change_schedule', sentence: 'Change the policy or timing of the schedule.', method: 'PATCH' },
    ...{
      path: apiPath(`schedules/${encodePart(id)}`),
      command: `escapement schedules update ${shellWord(id)} ${flag}`,
    },
  }),
  growLane: (lane: string): ExplainAction => ({
    ...{ action: 'grow_lane', sentence: 'Add slots to the lane on every node (operator only).', method: 'PUT' },
    ...{ path: apiPath(`lanes/${encodePart(lane)}`), command: `escapement lanes set ${shellWord(lane)} SIZE` },
  }),
  changeAgent: (id: string): ExplainAction => ({
    ...{ action: 'change_agent', sentence: 'Raise the concurrency limit of the agent.', method: 'PATCH' },
    ...{
      path: apiPath(`agents/${encodePart(id)}`),
      command: `escapement agents update ${shellWord(id)} --max-concurrent N`,
    },
  }),
  seeWorkers: (): ExplainAction => ({
    ...{ action: 'see_workers', sentence: 'List the connected workers.', method: 'GET' },
    ...{ path: apiPath('workers'), command: 'escapement workers' },
  }),
  seeBudget: (id: string): ExplainAction => ({
    ...{ action: 'see_budget', sentence: 'View the remaining budget, or change the budget.', method: 'GET' },
    ...{ path: apiPath(`budgets/${encodePart(id)}`), command: `escapement budgets get ${shellWord(id)}` },
  }),
  seeProvider: (name: string): ExplainAction => ({
    ...{ action: 'see_provider', sentence: 'View the remaining quotas of the provider, or change them.' },
    ...{
      method: 'GET',
      path: apiPath(`providers/${encodePart(name)}`),
      command: `escapement providers get ${shellWord(name)}`,
    },
  }),
  stopSession: (key: string): ExplainAction => ({
    ...{ action: 'stop_session', sentence: 'Stop the active run of the session.', method: 'POST' },
    ...{ path: apiPath(`sessions/${encodePart(key)}/stop`), command: `escapement sessions stop ${shellWord(key)}` },
  }),
  changeSession: (key: string): ExplainAction => ({
    ...{ action: 'change_session', sentence: 'Raise the queue limit of the session, or drop its oldest runs instead.' },
    ...{ method: 'PATCH', path: apiPath(`sessions/${encodePart(key)}`) },
    command: `escapement sessions update ${shellWord(key)} --cap N`,
  }),
  enableTarget: (id: string): ExplainAction => ({
    ...{ action: 'enable_target', sentence: 'Enable the target and send its held deliveries.', method: 'POST' },
    ...{ path: apiPath(`targets/${encodePart(id)}/enable`), command: `escapement targets enable ${shellWord(id)}` },
  }),
  retryDelivery: (id: string): ExplainAction => ({
    ...{ action: 'retry_delivery', sentence: 'Send the delivery now.', method: 'POST' },
    ...{ path: apiPath(`deliveries/${encodePart(id)}/retry`), command: `escapement deliveries retry ${shellWord(id)}` },
  }),
  askMoment: (at: string): ExplainAction => ({
    ...{ action: 'ask_moment', sentence: 'Explain the nearest planned occurrence.', method: 'GET' },
    ...{ path: apiPath(`explain?at=${encodePart(at)}`), command: `escapement explain ${at}` },
  }),
} as const

export const NO_NEXT_STEP: ExplainNext = { sentence: 'No further step is planned.', actions: [] }

/** The next step of a run, and the possible actions. */
export function nextOfRun(run: RunRecord, why: Why, schedule: ScheduleRow | null): ExplainNext {
  const sentence = nextStepSentence(run, why, schedule)
  return { sentence, actions: [...(REMEDIES[why.reason]?.({ run, why }) ?? []), ...defaultActions(run)] }
}

function nextStepSentence(run: RunRecord, why: Why, schedule: ScheduleRow | null): string {
  if (isTerminal(run.state)) return `It has ended. ${scheduleSentence(run, schedule)}`
  const end = run.deadline === null ? '' : ` Its deadline is ${formatInstant(run.deadline)}.`
  switch (run.state) {
    case 'running':
      return `It ends when its executor reports a result or its timeout passes.${end}`
    case 'awaiting_callback':
      return `It ends when its callback arrives or its timeout passes.${end}`
    case 'stopping':
      return 'It ends as cancelled when its executor has stopped or the grace period has passed.'
    case 'assigned':
      return `It is assigned to a worker, which is about to start it.${end}`
    case 'waiting':
    case 'queued': {
      const until =
        why.evidence['not_before'] ?? why.evidence['retry_at'] ?? why.evidence['until'] ?? why.evidence['held_until']
      return typeof until === 'string' && /^\d{4}-/.test(until)
        ? `It is checked again at ${until}, and starts when all gates are open.${end}`
        : `It starts as soon as all gates are open.${end}`
    }
  }
}

function scheduleSentence(run: RunRecord, schedule: ScheduleRow | null): string {
  if (run.scheduleId === null) return NO_NEXT_STEP.sentence
  if (schedule === null) return 'Its schedule was deleted, so no further run is planned.'
  return nextOccurrenceSentence(schedule)
}

/** The next occurrence of a schedule, as a sentence. */
const nextOccurrenceSentence = ({ nextRunAt, state }: ScheduleRow): string =>
  nextRunAt === null
    ? `The schedule is ${state} and has no next occurrence.`
    : `Next occurrence: ${formatInstant(nextRunAt)}.`

const RETRYABLE_STATES: readonly RunState[] = [
  'failed',
  'timeout',
  'cancelled',
  'skipped',
  'expired',
  'dropped',
  'rejected',
]

function defaultActions(run: RunRecord): readonly ExplainAction[] {
  if (run.state === 'success') return [ACTIONS.retryAnyway(run.id)]
  if (RETRYABLE_STATES.includes(run.state)) return [ACTIONS.retry(run.id)]
  return run.state === 'stopping' ? [] : [ACTIONS.cancel(run.id)]
}

interface ClosedGate {
  readonly run: RunRecord
  readonly why: Why
}

const evidenceText = ({ why }: ClosedGate, name: string): string | null => {
  const fact = why.evidence[name]
  return typeof fact === 'string' && fact !== '' ? fact : null
}

const actionsIf = <T>(value: T | null, action: (value: T) => ExplainAction): readonly ExplainAction[] =>
  value === null ? [] : [action(value)]

type Remedy = (gate: ClosedGate) => readonly ExplainAction[]

const changePolicy =
  (flag: string): Remedy =>
  ({ run }) =>
    actionsIf(run.scheduleId, (id) => ACTIONS.changeSchedule(id, flag))
const growLane: Remedy = (gate) => actionsIf(evidenceText(gate, 'lane'), ACTIONS.growLane)
const stopSessionRemedy: Remedy = ({ run }) => actionsIf(run.sessionKey, ACTIONS.stopSession)
const changeSessionRemedy: Remedy = ({ run }) => actionsIf(run.sessionKey, ACTIONS.changeSession)
const seeWorkers: Remedy = () => [ACTIONS.seeWorkers()]
const allowOverlap = changePolicy('--overlap ALLOW')
const moreSlots = changePolicy('--max-concurrency N')

/** Actions that would open the closed gate, or let the next occurrence run. */
const REMEDIES: Partial<Readonly<Record<Why['reason'], Remedy>>> = {
  lane_full: growLane,
  org_share: growLane,
  agent_limit: (gate) =>
    gate.why.rule === 'agent.max_concurrent' ? actionsIf(evidenceText(gate, 'agent'), ACTIONS.changeAgent) : [],
  executor_offline: seeWorkers,
  worker_busy: seeWorkers,
  budget: (gate) => actionsIf(evidenceText(gate, 'budget'), ACTIONS.seeBudget),
  session_order: stopSessionRemedy,
  session_limit: stopSessionRemedy,
  awaiting_stop: stopSessionRemedy,
  session_queue_full: changeSessionRemedy,
  dropped: changeSessionRemedy,
  overlap: allowOverlap,
  overlap_limit: allowOverlap,
  misfire: changePolicy('--misfire FIRE_NOW'),
  failure: changePolicy('--failure RUN_NEW'),
  concurrency: moreSlots,
  queue_full: moreSlots,
  schedule_limit: moreSlots,
}

/** The next occurrence of a schedule that did not fire, and the possible actions. */
export function nextOfSchedule(schedule: ScheduleRow | null, at: Instant | null = null): ExplainNext {
  if (schedule === null) return NO_NEXT_STEP
  const { id, state } = schedule
  const actions = state === 'paused' ? [ACTIONS.enable(id), ACTIONS.runNow(id)] : [ACTIONS.runNow(id)]
  const isAhead = at !== null && schedule.nextRunAt !== null && at >= schedule.nextRunAt
  return { sentence: nextOccurrenceSentence(schedule), actions: isAhead ? [] : actions }
}
