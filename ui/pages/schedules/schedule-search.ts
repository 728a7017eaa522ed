import type { ScheduleSort, ScheduleView } from '../../../src/features/schedules/schema.ts'

/** What the address of the page says about what is shown: a link shows the same to everybody. */
export interface ScheduleSearch {
  readonly q?: string
  readonly state?: ScheduleView['state']
  readonly agent_id?: string
  /** Only those whose last run failed, or that were given up. */
  readonly failing?: true
  readonly sort?: ScheduleSort
  /** Which file is being taken over, while it is. */
  readonly from?: ImportSource
}

/** Whose files can be taken over. */
export type ImportSource = 'crontab' | 'openclaw'

const words = <Word extends string>(all: Readonly<Record<Word, true>>): readonly Word[] => Object.keys(all) as Word[]

/** The states there are, in the order in which people look for them. */
export const STATES = words<ScheduleView['state']>({
  ...{ active: true, paused: true, failed: true, finished: true, pending_approval: true },
})

/** The orders there are; the first is the usual one. */
export const SORTS = words<ScheduleSort>({
  ...{ '-created_at': true, created_at: true, name: true, '-name': true, next_run_at: true, '-next_run_at': true },
  '-failure_streak': true,
})

/** Reads the address; what makes no sense is left out. */
export function readScheduleSearch(given: Readonly<Record<string, unknown>>): ScheduleSearch {
  const state = STATES.find((word) => word === given['state'])
  const sort = SORTS.find((word) => word === given['sort'])
  const { q, agent_id: agentId } = given
  return {
    ...(typeof q === 'string' || typeof q === 'number' ? { q: String(q) } : {}),
    ...(typeof agentId === 'string' && agentId !== '' ? { agent_id: agentId } : {}),
    ...(given['failing'] === true || given['failing'] === 'true' ? { failing: true as const } : {}),
    ...(state === undefined ? {} : { state }),
    ...(sort === undefined ? {} : { sort }),
    ...(given['from'] === 'crontab' || given['from'] === 'openclaw' ? { from: given['from'] } : {}),
  }
}
