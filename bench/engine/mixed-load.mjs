// The mixed load, the same for everybody: an agent that floods, three with steady traffic, one of whom little is asked.
// Jobs take a while, some of them long, some fail once. All belong to sessions.
import { MIXED_AGENTS, textOf } from './world.mjs'

const FLOOD_SESSIONS = 200
const OTHER_SESSIONS = 10
const STEADY_PER_SECOND = 100
const SMALL_PER_SECOND = 50
const SHORT_MS = 10
const LONG_MS = 250

/**
 * The jobs in the order of their numbers. `at`: milliseconds after the beginning; the flood is there at once. `place` is
 * the place in its session.
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

/** The flood in batches in which no session occurs twice: inside a batch nobody promises an order. */
export function layersOf(jobs) {
  const layers = []
  for (const job of jobs) (layers[job.place] ??= []).push(job)
  return layers
}
