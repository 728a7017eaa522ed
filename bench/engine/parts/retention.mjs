// Retention during the fastest submission: tasks that are kept for a second, submitted without a pause, and a backlog of expired
// tasks.
import { seedEndedTasks, settle, withClient } from '../seeding.mjs'
import { round, thousands } from '../statistics.mjs'

export const title = 'Retention beside the fastest submission of tasks'
export const minutes = { full: 3.5, quick: 0.9 }

const FILE = { file: 'retention.mjs' }
const DAY_SECONDS = 86_400
/** Warm-up time of submission. */
const WARM_UP_SECONDS = 1
/** The share of the backlog at which retention counts as caught up; the rest may be too young. */
const CAUGHT_UP = 0.9
const PLAN = {
  full: { backlog: 500_000, seconds: 40, maxSeconds: 120 },
  quick: { backlog: 10_000, seconds: 3, maxSeconds: 45 },
}

export async function measure(bench) {
  const plan = bench.quick ? PLAN.quick : PLAN.full
  const { backlog, seconds, maxSeconds } = plan
  const facts = await bench.server.withDatabase('retention', async (url) => {
    await bench.ask('prepareOrg', { url }, { file: 'idle-orgs.mjs' })
    const kept = await bench.ask('submitTasks', { url, ttlSeconds: DAY_SECONDS, seconds }, FILE)
    bench.say(`kept: ${thousands(rateOf(kept, 'submitted'))}/s submitted`)
    await withClient(url, async (client) => {
      await seedEndedTasks(client, backlog)
      await settle(client)
    })
    const all = backlog + kept.rows
    const asked = { url, ttlSeconds: 1, seconds, backlog: all * CAUGHT_UP, maxSeconds }
    const removed = await bench.ask('submitTasks', asked, FILE)
    return factsOf({ kept, removed, backlog: all })
  })
  return { ...plan, facts, rows: [rowOf(facts)], notes: NOTES }
}

/**
 * `kept`: nothing was old enough to be removed. `removed`: everything was, starting with `backlog` rows. Catching up begins
 * with the last sample in which nothing was removed yet, because retention runs periodically and may start late.
 */
export function factsOf({ kept, removed, backlog }) {
  const caughtUp = removed.samples.find((sample) => sample.removed >= backlog * CAUGHT_UP)
  const end = caughtUp ?? removed.samples.at(-1)
  const first = removed.samples.findIndex((sample) => sample.removed > 0)
  const begin = removed.samples[first - 1] ?? { at: 0, submitted: 0, removed: 0 }
  const perSecond = (what) => (end[what] - begin[what]) / (end.at - begin.at)
  return {
    backlog,
    caughtUpSeconds: caughtUp?.at ?? null,
    begunSeconds: begin.at,
    removedPerSecond: perSecond('removed'),
    submittedPerSecond: perSecond('submitted'),
    keptPerSecond: rateOf(kept, 'submitted'),
    besidePerSecond: rateOf(removed, 'submitted'),
    rowsBefore: backlog,
    rowsAfter: removed.rows,
    mibBefore: removed.mibBefore,
    mibAfter: removed.samples.at(-1).mib,
    samples: removed.samples,
  }
}

/** Per second between the first sample after the warm-up and the last. */
function rateOf({ samples }, what) {
  const first = samples.find(({ at }) => at >= WARM_UP_SECONDS) ?? samples[0]
  const last = samples.at(-1)
  return first === last ? last[what] / last.at : (last[what] - first[what]) / (last.at - first.at)
}

const rowOf = (fact) => ({
  'rows to remove': thousands(fact.backlog),
  'first removed after, s': round(fact.begunSeconds, 1),
  'caught up after, s': fact.caughtUpSeconds === null ? 'not all' : round(fact.caughtUpSeconds, 1),
  'removed/s': thousands(fact.removedPerSecond),
  'submitted/s meanwhile': thousands(fact.submittedPerSecond),
  'removed ÷ submitted': round(fact.removedPerSecond / fact.submittedPerSecond, 2),
  'submitted/s, nothing to remove': thousands(fact.keptPerSecond),
  'beside retention': thousands(fact.besidePerSecond),
  'rows before → after': `${thousands(fact.rowsBefore)} → ${thousands(fact.rowsAfter)}`,
  'table before → after, MiB': `${thousands(fact.mibBefore)} → ${thousands(fact.mibAfter)}`,
})

const NOTES = [
  'Tasks of 1,000 agents, submitted by 32 callers and executed at once by the same node. First they are kept for a day and nothing is removed; then a new node keeps them for a second and finds a backlog to remove. Removed and submitted rows are counted from the first removal until nine tenths of the backlog are gone, or until the end.',
]
