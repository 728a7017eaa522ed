// What the figures were to be, beside what they are.

/** One row per goal whose figures were measured. */
export function goalsOf(parts) {
  return Object.entries(GOALS).flatMap(([part, goals]) => (parts[part] === undefined ? [] : goals(parts[part].facts)))
}

const rowOf = ({ goal, wanted, measured, reached }) => ({ goal, wanted, measured, reached: reached ? 'yes' : 'no' })

const GOALS = {
  messages: ({ http, accepted }) =>
    Object.entries({ 'and worked off at once': http, 'to wait for their agent': accepted }).map(([what, fact]) =>
      rowOf({
        goal: `messages acknowledged per second, ${what}`,
        ...{ wanted: '≥ 6,000', measured: fact.perSecond.median.toLocaleString('en-US') },
        reached: fact.perSecond.median >= 6_000,
      }),
    ),
  runs: (facts) =>
    Object.entries(facts).map(([filter, { p99 }]) =>
      rowOf({ goal: `first page of runs, ${filter}: p99 ms`, wanted: '< 30', measured: p99, reached: p99 < 30 }),
    ),
  sse: (facts) =>
    Object.entries(facts).map(([listening, { difference, noise }]) =>
      rowOf({
        goal: `node µs per message with clients that listen (${listening}), of without`,
        ...{ wanted: `≤ 1 + ${noise}`, measured: difference, reached: difference <= 1 + noise },
      }),
    ),
}
