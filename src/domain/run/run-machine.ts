/**
 * The state machine of runs. One table has the next state for each state and event; everything else in this file
 * reads it. docs/run-states.md is generated from it.
 */
export type PendingState = 'waiting' | 'queued' | 'assigned' | 'running' | 'awaiting_callback' | 'stopping'

export type TerminalState =
  'success' | 'failed' | 'timeout' | 'cancelled' | 'skipped' | 'dropped' | 'rejected' | 'expired'

export type RunState = PendingState | TerminalState

export type RunEvent =
  /** The not-before time has come. */
  | 'due'
  /** A node claims the run to execute it. */
  | 'claim'
  /** A remote worker claims the run. */
  | 'assign'
  /** The remote worker reports the start. */
  | 'start'
  /** The remote worker disappeared before the start: nothing was executed, so nothing counts as failed. */
  | 'release'
  /** The executor will report later, through a callback. */
  | 'accept'
  | 'succeed'
  /** The attempt failed or timed out and another one follows. */
  | 'retry'
  | 'give_up'
  | 'time_out'
  /** The run is cancelled. */
  | 'cancel'
  /** The executor confirms the stop, or reports that it stopped by itself. */
  | 'stopped'
  | 'drop'
  | 'expire'
  /** A released occurrence is skipped by a policy. */
  | 'skip'

const TRANSITIONS: Record<RunState, Partial<Record<RunEvent, RunState>>> = {
  waiting: { due: 'queued', cancel: 'cancelled', drop: 'dropped', expire: 'expired', skip: 'skipped' },
  queued: { claim: 'running', assign: 'assigned', cancel: 'cancelled', drop: 'dropped', expire: 'expired' },
  assigned: { start: 'running', release: 'queued', cancel: 'cancelled', expire: 'expired' },
  // A run that executes is only asked to stop; its executor ends it.
  running: {
    accept: 'awaiting_callback',
    succeed: 'success',
    retry: 'waiting',
    give_up: 'failed',
    time_out: 'timeout',
    stopped: 'cancelled',
    cancel: 'stopping',
  },
  // No executor holds it, so a cancel ends it at once.
  awaiting_callback: {
    succeed: 'success',
    retry: 'waiting',
    give_up: 'failed',
    time_out: 'timeout',
    stopped: 'cancelled',
    cancel: 'cancelled',
  },
  // After a cancel, every ending is `cancelled`.
  stopping: {
    cancel: 'stopping',
    accept: 'cancelled',
    succeed: 'cancelled',
    retry: 'cancelled',
    give_up: 'cancelled',
    time_out: 'cancelled',
    stopped: 'cancelled',
  },
  success: {},
  failed: {},
  timeout: {},
  cancelled: {},
  skipped: {},
  dropped: {},
  rejected: {},
  expired: {},
}

/** The meaning of each state for docs/run-states.md. */
const STATE_MEANINGS: Record<RunState, string> = {
  waiting: 'has a not-before time: debounce, delay, spacing (a held occurrence), retry back-off',
  queued: 'may start as soon as its gates open',
  assigned: "claimed by a remote worker, not yet started (a node's own claims go straight to `running`)",
  running: 'the executor is working',
  awaiting_callback: 'the executor accepted and will report later',
  stopping: 'asked to stop, not yet confirmed; its ending is already fixed: `cancelled`',
  success: 'the executor reported success',
  failed: 'the last attempt failed',
  timeout: 'the last attempt exceeded its time limit',
  cancelled: 'cancelled by a user, or replaced by another run',
  skipped: 'an occurrence that a policy decided not to run; `finished_at` is the time of the decision',
  dropped: 'removed from a full session queue',
  rejected: 'refused at admission, stored for inspection',
  expired: 'its deadline passed while it waited; `finished_at` is the deadline',
}

export const RUN_STATES = Object.keys(TRANSITIONS) as readonly RunState[]

/** The states a run can be created in. */
export const FIRST_STATES: readonly RunState[] = ['waiting', 'queued', 'skipped', 'rejected', 'cancelled']

/** The state after the event; undefined when the event does not apply in this state and must change nothing. */
export const nextState = (from: RunState, event: RunEvent): RunState | undefined => TRANSITIONS[from][event]

/** The events that apply in this state. */
export const eventsOf = (state: RunState): readonly RunEvent[] => Object.keys(TRANSITIONS[state]) as RunEvent[]

/** Precomputed, because it is needed for every run of every transaction. */
const TERMINAL: ReadonlySet<RunState> = new Set(RUN_STATES.filter((state) => eventsOf(state).length === 0))

export const isTerminal = (state: RunState): state is TerminalState => TERMINAL.has(state)

export const isPending = (state: RunState): state is PendingState => !isTerminal(state)

/** The body of docs/run-states.md: the table of states and the diagram. */
export function renderRunStates(): string {
  const rows = RUN_STATES.map(
    (state) => `| \`${state}\` | ${STATE_MEANINGS[state]} | ${isTerminal(state) ? '✓' : ''} |`,
  )
  return ['| state | meaning | terminal |', '|---|---|:-:|', ...rows, '', '```mermaid', renderDiagram(), '```'].join(
    '\n',
  )
}

function renderDiagram(): string {
  const created = FIRST_STATES.map((state) => `  [*] --> ${state}`)
  const arrows = RUN_STATES.flatMap((from) =>
    RUN_STATES.flatMap((to) => {
      const events = eventsOf(from).filter((event) => nextState(from, event) === to)
      return events.length === 0 ? [] : [`  ${from} --> ${to}: ${events.join(', ')}`]
    }),
  )
  const ends = RUN_STATES.filter(isTerminal).map((state) => `  ${state} --> [*]`)
  return ['stateDiagram-v2', ...created, ...arrows, ...ends].join('\n')
}
