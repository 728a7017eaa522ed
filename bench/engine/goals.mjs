// What the figures were to be, beside what they are. Only ratios inside one run say something on a shared machine.
import { median } from './statistics.mjs'

const RIVALS = ['pg-boss', 'graphile-worker']

/** One row per goal whose figures were measured. */
export function goalsOf(parts) {
  return Object.entries(GOALS).flatMap(([part, goals]) =>
    parts[part] === undefined ? [] : goals(parts[part].facts).map(rowOf),
  )
}

/** `is` is undefined when a contestant it needs did not take part. */
const rowOf = ({ goal, is, least, most, digits = 2 }) => ({
  goal,
  wanted: least === undefined ? `≤ ${most.toLocaleString('en-US')}` : `≥ ${least.toLocaleString('en-US')}`,
  measured: is === undefined ? '–' : Number(is.toFixed(digits)).toLocaleString('en-US'),
  reached: is === undefined ? '–' : (least === undefined ? is <= most : is >= least) ? 'yes' : 'no',
})

const GOALS = {
  drain: (facts) => {
    const own = facts.escapement?.perSecond.median
    const best = Math.max(...RIVALS.flatMap((name) => facts[name]?.perSecond.median ?? []))
    return [
      { goal: 'drain: of the best PostgreSQL peer', is: ratio(own, best), least: 1 },
      { goal: 'drain: of raw SQL', is: ratio(own, facts['raw-sql']?.perSecond.median), least: 0.25 },
    ]
  },
  submission: (facts) => [
    { goal: 'submission: 32 in flight, per second', is: facts.escapement?.inFlight.median, least: 15_000, digits: 0 },
  ],
  latency: (facts) => [
    {
      goal: 'submit → start, p50, of graphile-worker',
      is: ratio(facts.escapement?.p50, facts['graphile-worker']?.p50),
      most: 1,
    },
  ],
  schedules: (facts) =>
    Object.entries(facts)
      .filter(([name]) => name.startsWith('escapement'))
      .map(([name, { last }]) => ({
        goal: `1,000 schedules, ${name}: last start, ms late`,
        is: last,
        most: 500,
        digits: 0,
      })),
  idle: (facts) => [
    { goal: 'idle: node processor, % of a core', is: facts.nodeCpuPercent, most: 1 },
    { goal: 'idle: node RSS, MiB', is: facts.rssMiB, most: 300, digits: 0 },
    {
      goal: 'start-up with all schedules, of start-up with one',
      is: ratio(median(facts.startUpFull), median(facts.startUpEmpty)),
      // Independent of their number, as far as a few dozen milliseconds can tell.
      most: 1.3,
    },
  ],
  buffers: ({ layouts, history }) =>
    [...Object.entries(layouts), ['ended runs', history]].map(([layout, byCount]) => {
      const counts = Object.keys(byCount).map(Number)
      const [least, most] = [Math.min(...counts), Math.max(...counts)]
      return {
        goal: `buffers per run, ${layout}, ${most.toLocaleString('en-US')} of ${least.toLocaleString('en-US')}`,
        is: ratio(byCount[most].perRun, byCount[least].perRun),
        most: 1.5,
      }
    }),
  pinned: (facts) => [{ goal: 'pinned horizon, of free', is: ratio(facts.pinned.mean, facts.free.mean), least: 0.8 }],
}

const ratio = (one, other) =>
  one === undefined || other === undefined || !Number.isFinite(other) ? undefined : one / other
