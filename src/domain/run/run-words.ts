import { flawed, MAX_LISTED_FLAWS, parsed, type Flaw, type Parsed } from '../input.ts'
import { isTerminal, RUN_STATES, type RunState } from './run-machine.ts'

/**
 * What other systems call the states of a run. Clients of the task façade and of the older APIs keep their words; inside
 * there is one vocabulary.
 */
export const FACADE_STATES = ['queued', 'assigned', 'running', 'done', 'failed', 'cancelled', 'rejected'] as const
export type FacadeState = (typeof FACADE_STATES)[number]

const FACADE_STATE_OF: Record<RunState, FacadeState> = {
  waiting: 'queued',
  queued: 'queued',
  assigned: 'assigned',
  running: 'running',
  awaiting_callback: 'running',
  // Its ending is fixed already; a client that asked for it sees it at once.
  stopping: 'cancelled',
  success: 'done',
  failed: 'failed',
  timeout: 'failed',
  expired: 'failed',
  cancelled: 'cancelled',
  // Tasks are never skipped or dropped; whoever asks all the same is told that nothing came of it.
  skipped: 'cancelled',
  dropped: 'cancelled',
  rejected: 'rejected',
}

/** The state of a task as its façade says it. */
export const facadeStateOf = (state: RunState): FacadeState => FACADE_STATE_OF[state]

/** The states behind a word of the façade, for its filters. */
export const statesOfFacade = (word: FacadeState): readonly RunState[] =>
  RUN_STATES.filter((state) => FACADE_STATE_OF[state] === word)

/** What the façade gives as the error of a task that never got its turn. */
export const EXPIRED_ERROR = 'deadline exceeded while queued'

/** The same of one that got its turn and did not come to an end, and of one whose attempt had a limit of its own. */
export const DEADLINE_ERROR = 'deadline exceeded while running'
export const TIMEOUT_ERROR = 'timed out'

/** `cron.runs` knows two endings. Null while there is none. */
export function rpcStatusOf(state: RunState): 'ok' | 'error' | null {
  if (!isTerminal(state)) return null
  return state === 'success' ? 'ok' : 'error'
}

const SYNONYMS: Readonly<Record<string, RunState>> = {
  scheduled: 'queued',
  canceled: 'cancelled',
  failed_timeout: 'timeout',
}

/** Reads the states to filter by, separated by commas, in any case and with the older words. */
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
