// Goals and measured figures. On a shared machine, only ratios inside one run are meaningful.
import { DURABLE_PEERS, PEERS, POSTGRES_PEERS } from './contestants.mjs'
import { OWN_GOALS } from './own-goals.mjs'
import { counted, ratio } from './goal-figures.mjs'

/** One row per goal whose part was measured. */
export function goalsOf(parts) {
  return Object.entries(GOALS).flatMap(([part, goals]) =>
    parts[part] === undefined ? [] : goals(parts[part].facts).map(rowOf),
  )
}

/**
 * `least` and `most` are inclusive, `below` is exclusive. `is` is undefined if a required contestant is missing, and Infinity
 * if the event never happened; `never` is the text for that case.
 */
function rowOf({ goal, is, least, most, below, digits = 2, never = 'not all of them' }) {
  const { wanted, reaches } = limitOf({ least, most, below })
  if (is === undefined) return { goal, wanted, measured: '–', reached: '–' }
  const measured = Number.isFinite(is) ? Number(is.toFixed(digits)).toLocaleString('en-US') : never
  return { goal, wanted, measured, reached: reaches(is) ? 'yes' : 'no' }
}

function limitOf({ least, most, below }) {
  if (least !== undefined) return { wanted: `≥ ${least}`, reaches: (is) => is >= least }
  if (most !== undefined) return { wanted: `≤ ${most}`, reaches: (is) => is <= most }
  return { wanted: `< ${below}`, reaches: (is) => is < below }
}

/** Under load, faster contestants get more work. */
const HOW = { idle: 'idle', hot: 'each under half of its own most' }

const GOALS = {
  submission: (facts) => {
    const best = bestOf(facts, POSTGRES_PEERS, { of: (fact) => fact.inFlight.median, pick: Math.max })
    const is = ratio(facts.escapement?.inFlight.median, best.value)
    return [{ goal: `submission, 32 in flight: times the best PostgreSQL peer${best.who}`, is, least: 5 }]
  },
  drain: (facts) => {
    const best = bestOf(facts, PEERS, { of: (fact) => fact.perSecond.median, pick: Math.max })
    const is = ratio(facts.escapement?.perSecond.median, best.value)
    return [{ goal: `drain, all records kept: times the best peer${best.who}`, is, least: 1.3 }]
  },
  latency: (facts) =>
    Object.keys(HOW).map((how) => {
      const best = bestOf(facts, DURABLE_PEERS, { of: (fact) => fact[how].p50.median, pick: Math.min })
      const is = ratio(facts.escapement?.[how].p50.median, best.value)
      return { goal: `latency p50, ${HOW[how]}: times the quickest durable peer${best.who}`, is, below: 1 }
    }),
  schedules: (facts) =>
    Object.entries(facts)
      .filter(([name]) => name.startsWith('escapement'))
      .map(([name, { last, complete }]) => ({
        ...{ goal: `1,000 due at once, ${name}: last start, ms late`, below: 250, digits: 0 },
        is: complete ? last.median : Infinity,
      })),
  lateness: ({ p99, schedules, perSecond }) => [
    {
      goal: `lateness p99, ${counted(schedules)} schedules, ${counted(perSecond)} fires/s: ms`,
      ...{ is: p99, below: 100, digits: 1 },
    },
  ],
  growth: ({ curves }) =>
    Object.entries(curves).flatMap(([curve, byCount]) => {
      const points = Object.entries(byCount)
        .map(([count, { buffersPerRun }]) => ({ count: Number(count), buffersPerRun }))
        .filter(({ buffersPerRun }) => Number.isFinite(buffersPerRun))
        .toSorted((a, b) => a.count - b.count)
      if (points.length < 2) return []
      const [first, last] = [points[0], points.at(-1)]
      const is = ratio(Math.max(...points.map((one) => one.buffersPerRun)), first.buffersPerRun)
      const goal = `buffers per claim, ${curve}, ${counted(first.count)} … ${counted(last.count)}: most, times the first`
      return [{ goal, is, most: 1.5 }]
    }),
  pinned: ({ pinned, free }) => [
    { goal: 'throughput with a pinned horizon: times without', is: ratio(pinned?.mean, free?.mean), least: 0.8 },
  ],
  ...OWN_GOALS,
}

/** The best of the contestants that took part, with its name and the missing ones in parentheses. */
function bestOf(facts, names, { of, pick }) {
  const there = names.filter((name) => facts[name] !== undefined)
  if (there.length === 0) return { value: undefined, who: '' }
  const value = pick(...there.map((name) => of(facts[name])))
  const best = there.find((name) => of(facts[name]) === value)
  const missing = names.filter((name) => !there.includes(name))
  return { value, who: ` (${best}${missing.length === 0 ? '' : `; without ${missing.join(', ')}`})` }
}
