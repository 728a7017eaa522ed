import type { Page } from '../../api/page.ts'
import { invalid } from '../../api/refusals.ts'
import { visibleOwner } from '../../domain/access/restrictions.ts'
import { agentId, scheduleId } from '../../domain/ids.ts'
import { collectFlaws, type FlawCollector, parseFlag, textField } from '../../domain/input-fields.ts'
import { flawed, parsed, type Parsed, parseWord } from '../../domain/input.ts'
import { formatInstant } from '../../domain/instant.ts'
import { SCHEDULE_STATES } from '../../domain/schedule/lifecycle.ts'
import { KIND_WORDS } from '../../domain/time/timing-fields.ts'
import type { Ports } from '../../engine/ports.ts'
import type { Caller } from '../access/caller.ts'
import { disabledTargets } from './agent-and-target.ts'
import { countRunsOfSchedule, loadOutcomes } from './occurrences-store.ts'
import { SCHEDULE_SORTS, type ScheduleFilter, type ScheduleSort, type ScheduleView } from './schema.ts'
import { countSchedules, listSchedulePage, type ScheduleQuery, type ScheduleCursor, type ScheduleRow } from './store.ts'
import { viewEffectiveSchedule } from './view.ts'
import type { OutcomesFilter, ScheduleOutcome, ScheduleOutcomes } from './views-schema.ts'
import { countSchedulesByState } from '../stats/store.ts'
import { isTimeText, pageOfListed, parseLimit, readCursorParts, writeCursorParts } from '../../platform/db/cursor.ts'

/** A page of the org's schedules, newest first by default. */
export async function findSchedules(
  ports: Pick<Ports, 'database' | 'settings'>,
  caller: Caller,
  /** With `whole`, large payloads are included, for surfaces that cannot request a single schedule. */
  filter: ScheduleFilter & { readonly whole?: boolean } = {},
): Promise<Page<ScheduleView>> {
  const { flaws, keep } = collectFlaws()
  const choice = parseScheduleFilter(caller, filter, keep)
  const failing = filter.failing === undefined ? null : keep(parseFlag('failing', filter.failing))
  const sort = filter.sort === undefined ? '-created_at' : keep(parseWord('sort', filter.sort, SCHEDULE_SORTS))
  const after = sort === null ? null : keep(parseScheduleCursor(filter.cursor, sort))
  const limit = keep(parseLimit('limit', filter.limit)) ?? 0
  if (sort === null || flaws.length > 0) throw invalid(flaws)
  const listed = await listSchedulePage(ports.database, {
    ...choice,
    failing,
    sort,
    after,
    limit,
    whole: filter.whole === true,
  })
  const disabled = await disabledTargets(ports.database, caller.orgId, listed.rows)
  return pageOfListed(
    listed,
    (row) => viewEffectiveSchedule(row, ports.settings().retry, disabled),
    (last) => cursorAfter(last, sort),
  )
}

function parseScheduleFilter(
  { orgId, restricted }: Caller,
  filter: ScheduleFilter,
  keep: FlawCollector['keep'],
): ScheduleQuery {
  const { state, kind, agent_id: agent, q } = filter
  const word = kind === undefined ? null : keep(parseWord('kind', kind, KIND_WORDS))
  return {
    orgId,
    owner: visibleOwner(restricted),
    state: state === undefined ? null : keep(parseWord('state', state, SCHEDULE_STATES)),
    kind: word === 'once' ? 'at' : word === 'interval' ? 'every' : word,
    agentId: agent === undefined ? null : agentId(keep(textField({ min: 1, max: 200 })('agent_id', agent)) ?? ''),
    text: q === undefined || q === '' ? null : keep(textField({ min: 1, max: 200 })('q', q)),
  }
}

/** The cursor contains its sort order, because a page cannot continue in another order. */
function cursorAfter(row: ScheduleRow, sort: ScheduleSort): string {
  return writeCursorParts([sort, sortValueOf(row, sort), row.id])
}

function sortValueOf(row: ScheduleRow, sort: ScheduleSort): number | string | null {
  switch (sort) {
    case 'created_at':
    case '-created_at':
      return row.createdAt
    case 'name':
    case '-name':
      return row.name
    case 'next_run_at':
    case '-next_run_at':
      return row.nextRunAt
    case '-failure_streak':
      return row.failureStreak
  }
}

function parseScheduleCursor(value: unknown, sort: ScheduleSort): Parsed<ScheduleCursor | null> {
  if (value === undefined || value === null || value === '') return parsed(null)
  const parts = readCursorParts(value)
  const allowed = 'the next_cursor of an earlier response with the same sort'
  const bad = flawed({ field: 'cursor', value, message: 'is not a cursor of this list', allowed })
  if (parts?.length !== 3) return bad
  const [order, at, id] = parts
  const isName = sort === 'name' || sort === '-name'
  const fits = isName ? typeof at === 'string' : at === null ? sort.endsWith('next_run_at') : isTimeText(at)
  if (order !== sort || !fits || typeof id !== 'string') return bad
  return parsed({ value: at as string | number | null, id: scheduleId(id) })
}

const MAX_OUTCOME_SCHEDULES = 200
const DEFAULT_OUTCOME_RUNS = 20

/** The states of the last runs of some schedules, in the order of the ids. Unknown schedules are left out. */
export async function loadScheduleOutcomes(
  { database }: Pick<Ports, 'database'>,
  { orgId, restricted }: Pick<Caller, 'orgId' | 'restricted'>,
  filter: OutcomesFilter,
): Promise<ScheduleOutcomes> {
  const ids = parseScheduleIds(filter.ids)
  const owner = visibleOwner(restricted)
  const limit = filter.limit ?? DEFAULT_OUTCOME_RUNS
  const rows = await loadOutcomes(database, { orgId, ids: ids.map(scheduleId), limit, owner })
  const found = new Map<string, ScheduleOutcome[]>()
  for (const { scheduleId: id, run } of rows) {
    const runs = found.get(id) ?? []
    found.set(id, runs)
    if (run !== null) runs.push({ id: run.id, status: run.state, created_at: formatInstant(run.createdAt) })
  }
  return {
    items: ids.flatMap((id) => {
      const runs = found.get(id)
      return runs === undefined ? [] : [{ schedule_id: id, runs }]
    }),
  }
}

function parseScheduleIds(text: string): readonly string[] {
  const ids = [...new Set(text.split(',').map((id) => id.trim()))].filter((id) => id !== '')
  if (ids.length > 0 && ids.length <= MAX_OUTCOME_SCHEDULES) return ids
  const message = ids.length === 0 ? 'contains no schedule id' : `contains ${ids.length} schedule ids`
  const allowed = `1 to ${MAX_OUTCOME_SCHEDULES} schedule ids, separated by commas`
  throw invalid([{ field: 'ids', value: text.slice(0, 200), message, allowed }])
}

type ScheduleCountPorts = Pick<Ports, 'database'>

/** Counts the active schedules of the org, or of its owner for a restricted key that sees only its own. */
export async function countActiveSchedules(
  { database }: ScheduleCountPorts,
  { orgId, restricted }: Pick<Caller, 'orgId' | 'restricted'>,
): Promise<number> {
  const owner = visibleOwner(restricted)
  if (owner !== null) return countSchedules(database, { orgId, owner, state: 'active' })
  return (await countSchedulesByState(database, orgId)).active ?? 0
}

/** Counts the stored runs of a schedule. */
export const countScheduleRuns = (
  { database }: ScheduleCountPorts,
  { orgId }: Pick<Caller, 'orgId'>,
  id: string,
): Promise<number> => countRunsOfSchedule(database, { orgId, id: scheduleId(id) })
