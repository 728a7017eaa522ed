import { flawed, MAX_LISTED_FLAWS, parsed, type Flaw, type Parsed } from '../input.ts'
import { isTerminal, RUN_STATES, type RunState } from './run-machine.ts'

/**
 * The state names of other APIs. Clients of the task façade and of older APIs keep their names; internally there is
 * one vocabulary.
 */
export const FACADE_STATES = ['queued', 'assigned', 'running', 'done', 'failed', 'cancelled', 'rejected'] as const
export type FacadeState = (typeof FACADE_STATES)[number]

const FACADE_STATE_OF: Record<RunState, FacadeState> = {
  waiting: 'queued',
  queued: 'queued',
  assigned: 'assigned',
  running: 'running',
  awaiting_callback: 'running',
  // Its ending is already fixed, so the client that cancelled it sees that at once.
  stopping: 'cancelled',
  success: 'done',
  failed: 'failed',
  timeout: 'failed',
  expired: 'failed',
  cancelled: 'cancelled',
  // Tasks are never skipped or dropped; the mapping must be complete.
  skipped: 'cancelled',
  dropped: 'cancelled',
  rejected: 'rejected',
}

/** The façade's name of a state. */
export const facadeStateOf = (state: RunState): FacadeState => FACADE_STATE_OF[state]

/** The states that a façade state stands for, for filters. */
export const statesOfFacade = (word: FacadeState): readonly RunState[] =>
  RUN_STATES.filter((state) => FACADE_STATE_OF[state] === word)

/** The façade's error of a task that expired before it started. */
export const EXPIRED_ERROR = 'deadline exceeded while queued'

/**
 * The façade's errors of a task that exceeded its deadline while running, and of one that exceeded the time limit of
 * an attempt.
 */
export const DEADLINE_ERROR = 'deadline exceeded while running'
export const TIMEOUT_ERROR = 'timed out'

/** The status of a run in `cron.runs`, which has two; null while the run has not ended. */
export function rpcStatusOf(state: RunState): 'ok' | 'error' | null {
  if (!isTerminal(state)) return null
  return state === 'success' ? 'ok' : 'error'
}

const SYNONYMS: Readonly<Record<string, RunState>> = {
  scheduled: 'queued',
  canceled: 'cancelled',
  failed_timeout: 'timeout',
}

/** Reads a comma-separated list of states to filter by, in any case; older names are accepted. */
export function parseRunStates(field: string, value: unknown): Parsed<readonly RunState[]> {
  const allowed = RUN_STATES.join(', ')
  if (typeof value !== 'string' || value.trim() === '')
    return flawed({ field, value, message: 'must name at least one state', allowed })
  const flaws: Flaw[] = []
  const states = value.split(',').flatMap((part): readonly RunState[] => {
    const word = part.trim().toLowerCase()
    const synonym = Object.hasOwn(SYNONYMS, word) ? SYNONYMS[word] : undefined
    const state = synonym ?? RUN_STATES.find((known) => known === word)
    if (state === undefined && flaws.length < MAX_LISTED_FLAWS)
      flaws.push({ field, value: part, message: 'is not a state of a run', allowed })
    return state === undefined ? [] : [state]
  })
  return flaws.length > 0 ? flawed(flaws) : parsed([...new Set(states)])
}
