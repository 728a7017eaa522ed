// Tasks are submitted as fast as possible and executed at once, while retention removes expired ones. Runs in a separate
// process.
import { setTimeout as sleep } from 'node:timers/promises'
import { agentsOf, create } from '../escapement.mjs'
import { withClient } from '../seeding.mjs'
import { AGENTS } from '../world.mjs'

const CALLERS = 32
const SAMPLE_MS = 1_000
/** Keeps the queue short, so that submission is measured and not a growing queue. */
const MAX_OUTSTANDING = 2_000
const LIMITS = {
  ...{ max_queue: 10_000_000, max_per_agent: 10_000_000 },
  ...{ max_inflight: 1_000, max_per_agent_inflight: 1_000 },
}

/**
 * The number of task rows, and the size of the table with its partitions. Rows are counted, because the server's statistics
 * report deletions seconds later.
 */
const COUNTED = `
  select (select count(*)::int from run where trigger = 'task') as tasks,
         (select sum(pg_total_relation_size(oid))::float / 1048576 from pg_class
           where oid = 'run'::regclass or oid in (select inhrelid from pg_inherits where inhparent = 'run'::regclass)) as mib`

/**
 * Submits tasks that are kept for `ttlSeconds` after their end: for `seconds`, and longer until `backlog` rows are removed, but
 * at most `maxSeconds`. Returns the numbers of submitted and removed rows over time, from the call of start().
 */
export async function submitTasks({ url, ttlSeconds, seconds, backlog = 0, maxSeconds = seconds }) {
  const count = { submitted: 0, handled: 0, stopped: false }
  const escapement = create(url, {
    agents: agentsOf(() => void (count.handled += 1)),
    lanes: { main: 1_000 },
    tasks: { ...LIMITS, result_ttl_seconds: ttlSeconds },
  })
  return withClient(url, async (client) => {
    const look = async () => (await client.query(COUNTED)).rows[0]
    const before = await look()
    const began = performance.now()
    await escapement.start()
    const calling = Promise.all(Array.from({ length: CALLERS }, () => submitAlways(escapement, count)))
    const samples = []
    const isOver = (passed) => passed >= maxSeconds || (passed >= seconds && (samples.at(-1)?.removed ?? 0) >= backlog)
    for (let passed = 0; !isOver(passed); passed = (performance.now() - began) / 1_000) {
      await Promise.race([sleep(SAMPLE_MS), calling])
      const { tasks, mib } = await look()
      const at = (performance.now() - began) / 1_000
      samples.push({ at, submitted: count.submitted, removed: before.tasks + count.submitted - tasks, mib })
    }
    count.stopped = true
    await calling
    const { tasks: rows } = await look()
    await escapement.stop()
    return { samples, rows, mibBefore: before.mib }
  })
}

async function submitAlways(escapement, count) {
  while (!count.stopped)
    if (count.submitted - count.handled > MAX_OUTSTANDING) await sleep(1)
    else {
      await escapement.tasks.submit({ agentId: `a${count.submitted % AGENTS}`, action: 'click', ref: 'e1' })
      count.submitted += 1
    }
}
