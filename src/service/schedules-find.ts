import type { Page } from '../api/page.ts'
import { invalid } from '../api/refusals.ts'
import { SCHEDULE_SORTS, type ScheduleFilter, type ScheduleSort, type ScheduleView } from '../contract/schedule.ts'
import { agentId, scheduleId } from '../domain/ids.ts'
import { flawed, parsed, parseWord, type Parsed } from '../domain/input.ts'
import { SCHEDULE_STATES } from '../domain/schedule/lifecycle.ts'
import { listSchedulePage, type ScheduleChoice, type ScheduleCursor } from '../store/schedules.ts'
import type { ScheduleRow } from '../store/schedule-row.ts'
import { confinedTo } from '../core/rails/railed.ts'
import { KIND_WORDS } from '../domain/time/timing-fields.ts'
import type { Caller } from './caller.ts'
import { isMoment, pageOfListed, parseLimit, readCursorParts, writeCursorParts } from '../platform/db/cursor.ts'
import { collectFlaws, parseFlag, textField, type Collector } from '../domain/input-fields.ts'
import type { Ports } from './ports.ts'
import { disabledTargets } from './schedule-delivery.ts'
import { viewInForce } from './schedule-view.ts'

/** A page of the org's schedules, newest first unless asked otherwise. */
export async function findSchedules(
  ports: Pick<Ports, 'database' | 'settings'>,
  caller: Caller,
  /** With `whole`, large payloads are not left out: where one schedule alone cannot be asked for. */
  filter: ScheduleFilter & { readonly whole?: boolean } = {},
): Promise<Page<ScheduleView>> {
  const { flaws, keep } = collectFlaws()
  const choice = readChoice(caller, filter, keep)
  const failing = filter.failing === undefined ? null : keep(parseFlag('failing', filter.failing))
  const sort = filter.sort === undefined ? '-created_at' : keep(parseWord('sort', filter.sort, SCHEDULE_SORTS))
  const after = sort === null ? null : keep(parseCursor(filter.cursor, sort))
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
    (row) => viewInForce(row, ports.settings().retry, disabled),
    (last) => cursorAfter(last, sort),
  )
}

function readChoice({ orgId, railed }: Caller, filter: ScheduleFilter, keep: Collector['keep']): ScheduleChoice {
  const { state, kind, agent_id: agent, q } = filter
  const word = kind === undefined ? null : keep(parseWord('kind', kind, KIND_WORDS))
  return {
    orgId,
    owner: confinedTo(railed),
    state: state === undefined ? null : keep(parseWord('state', state, SCHEDULE_STATES)),
    kind: word === 'once' ? 'at' : word === 'interval' ? 'every' : word,
    agentId: agent === undefined ? null : agentId(keep(textField({ min: 1, max: 200 })('agent_id', agent)) ?? ''),
    text: q === undefined || q === '' ? null : keep(textField({ min: 1, max: 200 })('q', q)),
  }
}

/** A page of one order cannot go on in another, so the cursor knows its order. */
function cursorAfter(row: ScheduleRow, sort: ScheduleSort): string {
  return writeCursorParts([sort, valueOf(row, sort), row.id])
}

function valueOf(row: ScheduleRow, sort: ScheduleSort): number | string | null {
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

function parseCursor(value: unknown, sort: ScheduleSort): Parsed<ScheduleCursor | null> {
  if (value === undefined || value === null || value === '') return parsed(null)
  const parts = readCursorParts(value)
  const allowed = 'the next_cursor of an earlier answer of the same order'
  const bad = flawed({ field: 'cursor', value, message: 'is not a cursor of this list', allowed })
  if (parts?.length !== 3) return bad
  const [order, at, id] = parts
  const isName = sort === 'name' || sort === '-name'
  const fits = isName ? typeof at === 'string' : at === null ? sort.endsWith('next_run_at') : isMoment(at)
  if (order !== sort || !fits || typeof id !== 'string') return bad
  return parsed({ value: at as string | number | null, id: scheduleId(id) })
}
