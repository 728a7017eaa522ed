import type { LineKey } from '../../src/domain/queue/queued-run.ts'
import { isRunFirst, queueKindOf } from '../../src/domain/queue/ready-lines.ts'
import { isActive } from '../../src/domain/run/run.ts'
import { inSessionOrder } from '../../src/domain/session/session.ts'
import type { BacklogRun } from '../../src/engine/org-state/backlog-store.ts'
import type { BacklogRequest, LoadedOrg } from '../../src/engine/org-state/memory.ts'
import type { RunRow } from '../../src/features/runs/store.ts'
import type { Org } from './world.ts'

/** The table of the backlog, as a map: each request looks at every row. */
export function takeFromBacklog(
  { state }: LoadedOrg,
  backlog: Org['backlog'],
  request: BacklogRequest,
): readonly BacklogRun[] {
  const rows = select(backlog, request)
  for (const { run } of rows) backlog.delete(run.id)
  if (request.kind === 'due') state.backlog.wakesAt = firstDeadline(backlog)
  return rows
}

function firstDeadline(backlog: Org['backlog']): LoadedOrg['state']['backlog']['wakesAt'] {
  const deadlines = [...backlog.values()].flatMap(({ run }) => run.deadline ?? [])
  return deadlines.toSorted((a, b) => a - b)[0] ?? null
}

function select(backlog: Org['backlog'], request: BacklogRequest): readonly BacklogRun[] {
  const all = [...backlog.values()]
  switch (request.kind) {
    case 'lines':
      return request.lines.flatMap((line) =>
        all
          .filter(({ run, behind }) => !behind && isInLine(run, line))
          .filter(({ run }) => line.bound === null || !isRunFirst(run, line.bound))
          .toSorted((a, b) => (isRunFirst(a.run, b.run) ? -1 : 1))
          .slice(0, line.max),
      )
    case 'sessions':
      return request.sessions.flatMap(({ key, from, max }) =>
        all
          .filter(({ run }) => run.sessionKey === key && (run.seq ?? 0) >= from)
          .toSorted((a, b) => inSessionOrder(a.run, b.run))
          .slice(0, max),
      )
    case 'due':
      return all
        .filter(({ run }) => run.deadline !== null && run.deadline <= request.now && run.deadline >= request.from)
        .toSorted((a, b) => (a.run.deadline ?? 0) - (b.run.deadline ?? 0))
        .slice(0, request.max)
    case 'ids':
      return request.ids.flatMap((id) => backlog.get(id) ?? [])
  }
}

const isInLine = (run: RunRow, line: LineKey): boolean =>
  run.agentId === line.agentId &&
  run.lane === line.lane &&
  run.executorKey === line.executorKey &&
  queueKindOf(run) === line.kind

/** What differs between the backlog and what the org believes of it; null: nothing, so memory is the prefix. */
export function notThePrefix({ memory, backlog }: Pick<Org, 'memory' | 'backlog'>): string | null {
  const { lines, count, tasks } = memory.state.backlog
  const rows = [...backlog.values()]
  if (count !== rows.length) return `${rows.length} in the backlog, ${count} counted`
  const queuedTasks = rows.filter(({ run }) => run.trigger === 'task').length
  if (tasks !== queuedTasks) return `${queuedTasks} tasks in the backlog, ${tasks} counted`
  for (const line of lines.values()) {
    const [all, waiting] = [true, false].map((both) =>
      rows.filter(({ run, behind }) => isInLine(run, line) && (both || !behind)),
    )
    if (all?.length !== line.count || waiting?.length !== line.waiting)
      return `${line.agentId} in ${line.lane} has ${all?.length} and ${waiting?.length}, ${line.count} and ${line.waiting} counted`
    if ((line.bound === null) !== (line.waiting === 0)) return `the bound of ${line.agentId} is missing`
    const before = waiting.find(({ run }) => line.bound !== null && isRunFirst(run, line.bound))
    if (before !== undefined) return `${before.run.id} sorts before the bound of its line`
  }
  return rows.map((row) => outOfPlace({ memory, backlog }, row)).find((problem) => problem !== null) ?? null
}

/** The first of a session competes in the backlog exactly if nothing of the session is queued or active in memory. */
function outOfPlace({ memory, backlog }: Pick<Org, 'memory' | 'backlog'>, { run, behind }: BacklogRun): string | null {
  const { sessions, bySession, runs } = memory.state
  if (runs.has(run.id)) return `${run.id} is in memory and in the backlog`
  if (run.sessionKey === null) return behind ? `${run.id} is behind a session it does not have` : null
  const session = sessions.get(run.sessionKey)
  const rows = [...backlog.values()].filter((row) => row.run.sessionKey === run.sessionKey)
  if (session?.behind !== rows.length)
    return `${rows.length} of ${run.sessionKey} in the backlog, ${session?.behind} counted`
  if ((run.seq ?? 0) < session.behindFrom) return `${run.id} has a position before that of its session`
  const isPresent = [...(bySession.get(run.sessionKey) ?? [])].some(
    (other) => (other.state === 'queued' && other.slot !== 'parked') || (isActive(other) && other.inGeneration),
  )
  const first = rows.toSorted((a, b) => inSessionOrder(a.run, b.run))[0]
  if (behind === (isPresent || first?.run !== run)) return null
  return `${run.id} ${behind ? 'is behind nothing' : 'competes, but is behind others of its session'}`
}
