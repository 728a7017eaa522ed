/**
 * The life of a run, as data. One table says which event leads from which state to which; everything else in this file
 * reads it. docs/run-states.md is printed from it.
 */
export type PendingState = 'waiting' | 'queued' | 'assigned' | 'running' | 'awaiting_callback' | 'stopping'

export type TerminalState =
  'success' | 'failed' | 'timeout' | 'cancelled' | 'skipped' | 'dropped' | 'rejected' | 'expired'

export type RunState = PendingState | TerminalState

export type RunEvent =
  /** The not-before time has come. */
  | 'due'
  /** A node takes the run to work on it itself. */
  | 'claim'
  /** A remote worker takes the run. */
  | 'assign'
  /** The remote worker says it has begun. */
  | 'start'
  /** The remote worker went away before it began: nothing was executed, so nothing counts as failed. */
  | 'release'
  /** The executor will report later, through a callback. */
  | 'accept'
  | 'succeed'
  /** The attempt failed or timed out and another one follows. */
  | 'retry'
  | 'give_up'
  | 'time_out'
  /** Someone wants it to end. */
  | 'cancel'
  /** The holder confirms that it has stopped, or says so of its own accord. */
  | 'stopped'
  | 'drop'
  | 'expire'
  /** A held occurrence was released, and a policy decided that it does not run. */
  | 'skip'

const TRANSITIONS: Record<RunState, Partial<Record<RunEvent, RunState>>> = {
  waiting: { due: 'queued', cancel: 'cancelled', drop: 'dropped', expire: 'expired', skip: 'skipped' },
  queued: { claim: 'running', assign: 'assigned', cancel: 'cancelled', drop: 'dropped', expire: 'expired' },
  assigned: { start: 'running', release: 'queued', cancel: 'cancelled', expire: 'expired' },
  // Work that executes is only asked to stop; whoever holds it ends it.
  running: {
    accept: 'awaiting_callback',
    succeed: 'success',
    retry: 'waiting',
    give_up: 'failed',
    time_out: 'timeout',
    stopped: 'cancelled',
    cancel: 'stopping',
  },
  // Nobody holds it, so there is nobody to ask: a cancel ends it at once.
  awaiting_callback: {
    succeed: 'success',
    retry: 'waiting',
    give_up: 'failed',
    time_out: 'timeout',
    stopped: 'cancelled',
    cancel: 'cancelled',
  },
  // Once asked to stop, every ending is the same ending.
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

/** What each state means, in the words of the glossary. */
const STATE_MEANINGS: Record<RunState, string> = {
  waiting: 'has a not-before time: debounce, delay, spacing (a held occurrence), retry back-off',
  queued: 'may start as soon as its gates open',
  assigned: "claimed by a remote worker, not yet started (a node's own claims go straight to `running`)",
  running: 'the executor is working',
  awaiting_callback: 'the executor accepted and will report later',
  stopping: 'asked to stop, not yet confirmed; its ending is already fixed: `cancelled`',
  success: 'ended by execution, as wished',
  failed: 'ended by execution, with an error',
  timeout: 'ended because its last attempt took too long',
  cancelled: 'ended by a person, or made way for other work',
  skipped: 'an occurrence that a policy decided not to run; `finished_at` is the moment of decision',
  dropped: 'pushed out of a full session queue',
  rejected: 'refused at admission, kept for inspection',
  expired: 'its deadline passed while it waited; `finished_at` is the deadline',
}

export const RUN_STATES = Object.keys(TRANSITIONS) as readonly RunState[]

/** The states a run can be created in. */
export const FIRST_STATES: readonly RunState[] = ['waiting', 'queued', 'skipped', 'rejected', 'cancelled']

/** The state after the event, or `undefined` when the event means nothing in this state and must change nothing. */
export const nextState = (from: RunState, event: RunEvent): RunState | undefined => TRANSITIONS[from][event]

/** The events that mean something in this state. */
export const eventsOf = (state: RunState): readonly RunEvent[] => Object.keys(TRANSITIONS[state]) as RunEvent[]

/** Asked for every run of every turn, so it is looked up and not found out each time. */
const TERMINAL: ReadonlySet<RunState> = new Set(RUN_STATES.filter((state) => eventsOf(state).length === 0))

export const isTerminal = (state: RunState): state is TerminalState => TERMINAL.has(state)

export const isPending = (state: RunState): state is PendingState => !isTerminal(state)

/** The body of docs/run-states.md: the table of states and the drawing. */
export function renderRunStates(): string {
  const rows = RUN_STATES.map(
    (state) => `| \`${state}\` | ${STATE_MEANINGS[state]} | ${isTerminal(state) ? '✓' : ''} |`,
  )
  return ['| state | meaning | terminal |', '|---|---|:-:|', ...rows, '', '```mermaid', renderDiagram(), '```'].join(
    '\n',
  )
}

function renderDiagram(): string {
  const born = FIRST_STATES.map((state) => `  [*] --> ${state}`)
  const arrows = RUN_STATES.flatMap((from) =>
    RUN_STATES.flatMap((to) => {
      const events = eventsOf(from).filter((event) => nextState(from, event) === to)
      return events.length === 0 ? [] : [`  ${from} --> ${to}: ${events.join(', ')}`]
    }),
  )
  const ends = RUN_STATES.filter(isTerminal).map((state) => `  ${state} --> [*]`)
  return ['stateDiagram-v2', ...born, ...arrows, ...ends].join('\n')
}
