// Goals of the parts that measure Escapement alone: many orgs, long queues, nodes that join and die.
import { counted, ratio } from './goal-figures.mjs'

/** An event that didn't happen within its time limit is worse than any figure. */
const orNever = (value, timeoutMs) => ({
  is: value ?? Infinity,
  ...(timeoutMs === undefined ? {} : { never: `not within ${timeoutMs / 1_000} s` }),
})

export const OWN_GOALS = {
  payloads: (facts) =>
    Object.entries({ '2 KB': 0.7, '20 KB': 0.2 }).map(([size, least]) => ({
      goal: `drain with payloads of ${size}: times that of 60 bytes`,
      is: ratio(facts[size]?.perSecond.median, facts['60 bytes']?.perSecond.median),
      least,
    })),
  'orgs-at-once': (facts) =>
    Object.entries(facts).map(([orgs, { late }]) => ({
      goal: `${orgs} orgs at once on an idle node: starts later than 100 ms`,
      ...{ is: late, most: 0, digits: 0 },
    })),
  'idle-orgs': (facts) =>
    Object.entries(facts).flatMap(([count, { claimMs, nodeCpuPercent }]) => [
      {
        goal: `${counted(Number(count))} idle orgs: first start, s after ready`,
        ...orNever(claimMs === null ? null : claimMs / 1_000, 60_000),
        most: 2,
      },
      { goal: `${counted(Number(count))} idle orgs: node, % of a core`, is: nodeCpuPercent, most: 2 },
    ]),
  expiry: ({ count, timeoutMs, allMs, loopCpuMaxMs, loopMaxMs, othersP99, started, otherwise }) => [
    {
      goal: `${counted(count)} runs expire: s until all have`,
      ...orNever(allMs === null ? null : allMs / 1_000, timeoutMs),
      ...{ most: 60, digits: 1 },
    },
    {
      goal: `${counted(count)} runs expire: event loop held at most, ms of processor`,
      ...{ is: loopCpuMaxMs ?? loopMaxMs, most: 50, digits: 0 },
    },
    { goal: `${counted(count)} runs expire: other orgs' starts p99, ms late`, is: othersP99, below: 250, digits: 0 },
    { goal: `${counted(count)} runs expire: started or ended otherwise`, is: started + otherwise, most: 0, digits: 0 },
  ],
  joining: ({ longestPauseMs }) => [
    { goal: 'a node joins a drain: longest pause of the first node, ms', is: longestPauseMs, most: 500, digits: 0 },
  ],
  'after-kill': ({ count, timeoutMs, firstMs, peakRssMiB }) => [
    {
      goal: `${counted(count)} queued, after kill -9: first start, ms`,
      ...orNever(firstMs, timeoutMs),
      most: 500,
      digits: 0,
    },
    { goal: `${counted(count)} queued: node RSS at its highest, MiB`, is: peakRssMiB, most: 300, digits: 0 },
  ],
  backlog: ({ layouts }) =>
    Object.entries(layouts).flatMap(([layout, byCount]) => {
      const facts = Object.entries(byCount).map(([count, fact]) => ({ count: Number(count), ...fact }))
      const [least, most] = [facts[0], facts.at(-1)]
      const of = `${counted(most.count)} queued, ${layout}`
      return [
        { goal: `${of}: node RSS at its highest, MiB`, is: most.peakRssMiB, most: 300, digits: 0 },
        { goal: `${of}: start → first run, ms`, is: most.startMs + most.beganMs, most: 500, digits: 0 },
        {
          goal: `${of}: buffers per claim, times those of ${counted(least.count)}`,
          ...{ is: ratio(most.buffersPerRun, least.buffersPerRun), most: 1.5 },
        },
      ]
    }),
  crowded: ({ count, othersP99, reads, restartMs }) => [
    {
      goal: `${counted(count)} tasks in one org: other orgs' starts p99, ms late`,
      is: othersP99,
      below: 50,
      digits: 1,
    },
    {
      goal: `${counted(count)} tasks in one org: restart → first start, ms`,
      is: restartMs ?? Infinity,
      most: 500,
      digits: 0,
    },
    ...Object.entries(reads).map(([read, { p99 }]) => ({
      goal: `${counted(count)} tasks in one org: ${read} p99, ms`,
      ...{ is: p99, below: 50, digits: 1 },
    })),
  ],
  retention: (fact) => [
    {
      goal: 'retention, catching up: rows removed, times rows submitted',
      ...{ is: ratio(fact.removedPerSecond, fact.submittedPerSecond), least: 2 },
    },
    { goal: 'retention: rows after the submission, times before', is: ratio(fact.rowsAfter, fact.rowsBefore), most: 1 },
    {
      goal: 'submission beside retention: times without anything to remove',
      ...{ is: ratio(fact.besidePerSecond, fact.keptPerSecond), least: 0.9 },
    },
  ],
}
