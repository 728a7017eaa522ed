// The mixed load, the same for all contestants: an agent with a flood, three with steady traffic, one with little work. Jobs
// take some time, some take long, and some fail once. All belong to sessions.
import { MIXED_AGENTS, textOf } from './world.mjs'

const FLOOD_SESSIONS = 200
const OTHER_SESSIONS = 10
const STEADY_PER_SECOND = 100
const SMALL_PER_SECOND = 50
const SHORT_MS = 10
const LONG_MS = 250

/**
 * The jobs in the order of their numbers. `at`: milliseconds after the beginning; the flood arrives at once. `place` is the
 * position in its session.
 */
export function mixedLoad({ flood, seconds }) {
  const [flooding, ...steady] = MIXED_AGENTS
  const small = steady.pop()
  const arrivals = [
    ...every({ role: 'flood', agent: flooding, count: flood, gapMs: 0, sessions: FLOOD_SESSIONS }),
    ...steady.flatMap((agent) =>
      spread({ role: 'steady', agent, perSecond: STEADY_PER_SECOND, seconds, sessions: OTHER_SESSIONS }),
    ),
    ...spread({ role: 'small', agent: small, perSecond: SMALL_PER_SECOND, seconds, sessions: OTHER_SESSIONS }),
  ]
  return arrivals.map((one, n) => ({
    ...one,
    n,
    text: textOf(n),
    ms: n % 100 === 3 ? LONG_MS : SHORT_MS,
    fails: n % 50 === 7,
  }))
}

const spread = ({ perSecond, seconds, ...rest }) =>
  every({ ...rest, count: Math.round(perSecond * seconds), gapMs: 1_000 / perSecond })

const every = ({ role, agent, count, gapMs, sessions }) =>
  Array.from({ length: count }, (_, i) => ({
    ...{ role, agent, session: `${agent}-${i % sessions}`, place: Math.floor(i / sessions), at: i * gapMs },
  }))

/** The flood in batches in which no session occurs twice, because no contestant guarantees the order inside a batch. */
export function layersOf(jobs) {
  const layers = []
  for (const job of jobs) (layers[job.place] ??= []).push(job)
  return layers
}
