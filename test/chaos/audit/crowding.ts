import type { HandledAttempt, Limits, StoredAttempt, StoredRun } from '../records.ts'
import type { Finding } from './findings.ts'
import { findCrowd, groupBy, type Evidence, type Span } from './spans.ts'

/** One limit: who counts against it, and how many may. */
interface Bound {
  readonly kind: string
  readonly what: string
  readonly limit: number
  readonly spans: readonly Span[]
}

/** The limits as the database and as the handlers saw them, and which of them did not hold. */
export interface Crowding {
  readonly findings: readonly Finding[]
  /** Kinds of limits that were reached somewhere at some time, and those that never were and so prove nothing. */
  readonly reached: ReadonlySet<string>
  readonly unreached: ReadonlySet<string>
}

/** Looks for limits that were exceeded. */
export function findCrowding(evidence: Evidence): Crowding {
  const bounds = [...storedBounds(evidence), ...activeBounds(evidence), ...handledBounds(evidence)]
  const reached = new Set(
    bounds.filter(({ spans, limit }) => findCrowd(spans, limit - 1) !== null).map(({ kind }) => kind),
  )
  return {
    findings: bounds.flatMap(findExcess),
    reached,
    unreached: new Set(bounds.map(({ kind }) => kind).filter((kind) => !reached.has(kind))),
  }
}

function findExcess({ what, limit, spans }: Bound): readonly Finding[] {
  const crowd = findCrowd(spans, limit)
  if (crowd === null) return []
  const { at, rows } = crowd
  const when = new Date(at).toISOString()
  return [{ wrong: 'limits exceeded', what: `${rows.length} of ${limit} for ${what} at ${when}`, rows }]
}

interface Flight {
  readonly run: StoredRun
  readonly attempt: StoredAttempt
}

const FOR_EVER = Number.POSITIVE_INFINITY

/** What the rows say holds without any exception: a lapsed lease ends an attempt there before another begins. */
function storedBounds({ records }: Evidence): readonly Bound[] {
  const { limits, runs } = records
  const flights = runs.flatMap((run) => run.attempts.map((attempt): Flight => ({ run, attempt })))
  const work = new Map(records.handled.map((attempt) => [attempt.id, attempt]))
  const spanOf = ({ run, attempt }: Flight): Span => ({
    from: attempt.startedAt,
    to: attempt.finishedAt ?? FOR_EVER,
    row: { run: run.id, ...attempt },
  })
  const sight: Sight<Flight> = {
    source: 'in the database',
    items: flights,
    spanOf,
    workOf: (flight) => {
      const { from, to, row } = spanOf(flight)
      // A claim whose commit nobody heard of is given back without having been worked on.
      const { startedAt = from, endedAt = from } = work.get(flight.attempt.id) ?? {}
      return { from: startedAt, to: Math.max(startedAt, Math.min(to, endedAt ?? FOR_EVER)), row }
    },
    orgOf: ({ run }) => run.org,
    agentOf: ({ run }) => `${run.org} ${run.agent}`,
    isTask: ({ run }) => run.trigger === 'task',
    laneOf: ({ run }) => run.lane,
    placeOf: ({ attempt }) => attempt.node,
  }
  const isCatchup = ({ run }: Flight): boolean => run.trigger === 'catchup'
  const catchups = { ...sight, items: flights.filter(isCatchup), spanOf: sight.workOf }
  return [
    ...flightBounds(sight, limits),
    ...boundsBy(catchups, { kind: 'catch-ups of a node', keyOf: sight.placeOf, limits: limits.catchups }),
  ]
}

/** Sessions and schedules count a run from its first start to its end, the waits between attempts included. */
function activeBounds({ records }: Evidence): readonly Bound[] {
  const started = records.runs.filter((run) => run.attempts.length > 0)
  const spanOf = (run: StoredRun): Span => ({
    from: Math.min(...run.attempts.map(({ startedAt }) => startedAt)),
    to: run.finishedAt ?? FOR_EVER,
    row: run,
  })
  const sight = { source: 'in the database', items: started, spanOf }
  // A superseded run has handed its slot on and may still be stopping.
  const holding = { ...sight, items: started.filter((run) => !run.superseded) }
  const slots = new Map(records.schedules.flatMap(({ id, limit }) => (limit === null ? [] : [[id, limit] as const])))
  return [
    ...boundsBy(sight, { kind: 'session', keyOf: (run) => run.session, limits: records.limits.sessions }),
    ...boundsBy(holding, { kind: 'schedule', keyOf: (run) => run.schedule, limits: slots }),
  ]
}

/** The same from the handlers' side, where a lapsed lease may leave an attempt behind that does not know yet. */
function handledBounds({ records, runs, spanOf }: Evidence): readonly Bound[] {
  const { limits, handled } = records
  const sight: Sight<HandledAttempt> = {
    source: 'by the handlers',
    items: handled,
    spanOf,
    workOf: spanOf,
    orgOf: ({ org }) => org,
    agentOf: ({ org, agent }) => `${org} ${agent}`,
    isTask: ({ trigger }) => trigger === 'task',
    laneOf: ({ run }) => runs.get(run)?.lane ?? null,
    placeOf: ({ process }) => process,
  }
  // Those with a limit of 1 are looked at for their order.
  const crowded = new Map([...limits.sessions].filter(([, limit]) => limit > 1))
  return [
    ...boundsBy(sight, { kind: 'session', keyOf: ({ session }) => session, limits: crowded }),
    ...flightBounds(sight, limits),
  ]
}

/** Attempts in flight, from one side. */
interface Sight<T> {
  readonly source: string
  readonly items: readonly T[]
  readonly spanOf: (item: T) => Span
  /**
   * While the process itself worked on it, which is what takes room in a lane. The rows have it a little longer: from
   * the beginning of the turn that claimed it to the turn that took in its report.
   */
  readonly workOf: (item: T) => Span
  readonly orgOf: (item: T) => string
  readonly agentOf: (item: T) => string
  readonly isTask: (item: T) => boolean
  readonly laneOf: (item: T) => string | null
  /** Where it was worked on: lanes are there once for each. */
  readonly placeOf: (item: T) => string | null
}

function flightBounds<T>(sight: Sight<T>, limits: Limits): readonly Bound[] {
  const tasks = { ...sight, items: sight.items.filter(sight.isTask) }
  return [
    ...boundsBy(sight, { kind: 'agent', keyOf: sight.agentOf, limits: limits.agents }),
    ...boundsBy(tasks, { kind: 'tasks of an agent', keyOf: sight.agentOf, limits: limits.tasksPerAgent }),
    ...boundsBy(tasks, { kind: 'tasks', keyOf: sight.orgOf, limits: limits.tasks }),
    ...boundsBy(sight, { kind: 'org', keyOf: sight.orgOf, limits: limits.orgs }),
    ...[...limits.lanes].flatMap(([lane, size]) =>
      boundsBy(
        { ...sight, spanOf: sight.workOf, items: sight.items.filter((item) => sight.laneOf(item) === lane) },
        { kind: `lane ${lane} of a node`, keyOf: sight.placeOf, limits: size },
      ),
    ),
  ]
}

interface Rule<T> {
  readonly kind: string
  readonly keyOf: (item: T) => string | null
  /** One for all, or one for each key. */
  readonly limits: number | ReadonlyMap<string, number>
}

function boundsBy<T>(
  { source, items, spanOf }: Pick<Sight<T>, 'source' | 'items' | 'spanOf'>,
  { kind, keyOf, limits }: Rule<T>,
): readonly Bound[] {
  return [...groupBy(items, keyOf)].flatMap(([key, group]): readonly Bound[] => {
    const limit = typeof limits === 'number' ? limits : limits.get(key)
    if (limit === undefined) return []
    return [{ kind, what: `${kind} ${source} (${key})`, limit, spans: group.map(spanOf) }]
  })
}
