import type { RunView } from '../../../../src/features/runs/schema.ts'

export const TABS = ['runs', 'calendar', 'backfills', 'policy', 'audit'] as const
/** A part of the page of a schedule. */
export type Tab = (typeof TABS)[number]

export const STATUSES = ['success', 'failed', 'timeout', 'cancelled', 'skipped', 'expired'] as const

/** What the address of a schedule's page says about what is shown. */
export interface ScheduleOneSearch {
  readonly tab?: Tab
  /** Runs that ended so. */
  readonly status?: RunView['status']
  /** Runs of this day, on the clock of the schedule's zone. */
  readonly day?: string
  /** `new`: a backfill is being planned. */
  readonly backfill?: 'new'
  /** The time that is explained. */
  readonly at?: string
}

/** Reads the address; what makes no sense is left out. */
export function readScheduleOneSearch(given: Readonly<Record<string, unknown>>): ScheduleOneSearch {
  const tab = TABS.find((word) => word === given['tab'])
  const status = STATUSES.find((word) => word === given['status'])
  const { day, at } = given
  return {
    ...(tab === undefined ? {} : { tab }),
    ...(status === undefined ? {} : { status }),
    ...(typeof day === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(day) ? { day } : {}),
    ...(given['backfill'] === 'new' ? { backfill: 'new' as const } : {}),
    ...(typeof at === 'string' && !Number.isNaN(Date.parse(at)) ? { at } : {}),
  }
}
