// Goals and measured figures.

/** One row per goal with measured figures. */
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
  tasks: ({ submit, cycle, list }) => [
    rowOf({
      goal: 'tasks acknowledged per second',
      ...{ wanted: '≥ 6,000', measured: submit.perSecond.toLocaleString('en-US') },
      reached: submit.perSecond >= 6_000,
    }),
    rowOf({
      goal: 'tasks from submit to their end per second, 8 clients',
      ...{ wanted: '≥ 1,670', measured: cycle.perSecond.toLocaleString('en-US') },
      reached: cycle.perSecond >= 1_670,
    }),
    rowOf({
      goal: `MiB more while ${list.tasks.toLocaleString('en-US')} tasks are listed page by page`,
      ...{ wanted: '≤ 64', measured: list.moreMiB, reached: list.moreMiB <= 64 },
    }),
  ],
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
