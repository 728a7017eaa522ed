// pg-boss in its fastest configuration: two workers with batches of 1,000, woken by notifications; for the latency of single
// jobs one worker with one job at a time; for the mixed load fifty jobs at a time in small batches, completed one by one.
import { PgBoss } from 'pg-boss'
import pg from 'pg'

const QUEUE = 'bench'
const CRON_QUEUE = 'bench_cron'
/** Keeps the order of jobs with the same key, also across retries. */
const ORDERED_QUEUE = 'bench_ordered'
const WORK = {
  many: { batchSize: 1_000, localConcurrency: 2, burstWhenBatchFull: true, pollingIntervalSeconds: 0.5 },
  few: { batchSize: 1, localConcurrency: 1, pollingIntervalSeconds: 0.5 },
  mixed: {
    ...{ batchSize: 5, localConcurrency: 10, burstWhenBatchFull: true, pollingIntervalSeconds: 0.5 },
    perJobResults: true,
  },
}

export async function prepare(url) {
  const boss = await started(url, {})
  await boss.createQueue(QUEUE, { notify: true })
  await boss.createQueue(CRON_QUEUE, { notify: true })
  // Retry at once, because the shortest delay is a second.
  await boss.createQueue(ORDERED_QUEUE, { notify: true, policy: 'key_strict_fifo', retryLimit: 3, retryDelay: 0 })
  await boss.stop({ graceful: false })
}

/** Works if there is a `handle`, tuned for many jobs, few jobs or the mixed load; otherwise it only submits. */
export async function open(url, { handle, tuned = 'many' }) {
  const boss = await started(url, { useListenNotify: handle !== undefined })
  const queue = tuned === 'mixed' ? ORDERED_QUEUE : QUEUE
  const specOf = ({ session }) => (tuned === 'mixed' ? { singletonKey: session } : {})
  const work = tuned === 'mixed' ? workEach : workAll
  return {
    batchSize: 1_000,
    submit: (job) => boss.send(queue, job, specOf(job)),
    submitMany: (jobs) =>
      boss.insert(
        queue,
        jobs.map((job) => ({ data: job, ...specOf(job) })),
      ),
    start: () => work(boss, { queue, handle, options: WORK[tuned] }),
    close: () => boss.stop({ graceful: false }),
  }
}

/** Counts from the store. */
export async function observe(url) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const ask = async (text) => (await client.query(text)).rows[0]
  const jobs = `pgboss.job where name in ('${QUEUE}', '${ORDERED_QUEUE}')`
  return {
    left: async () => (await ask(`select count(*)::int as left from ${jobs} and state < 'completed'`)).left,
    counts: () =>
      ask(`select count(*) filter (where state < 'completed')::int as left,
                  count(*) filter (where state = 'completed')::int as completed,
                  count(*) filter (where state > 'completed')::int as failed from ${jobs}`),
    close: () => client.end(),
  }
}

/** Schedules of the same minute, checked as often as pg-boss allows. */
export async function dueTogether(url, { count, handle, leadMs }) {
  const boss = await started(url, {
    useListenNotify: true,
    schedule: true,
    cronMonitorIntervalSeconds: 1,
    cronWorkerIntervalSeconds: 1,
  })
  await workAll(boss, { queue: CRON_QUEUE, handle, options: WORK.many })
  // Create all before the minute begins, or some would be due a minute earlier than the rest.
  const due = Math.ceil((Date.now() + 2 * leadMs) / 60_000) * 60_000
  const minute = new Date(due).getUTCMinutes()
  for (let i = 0; i < count; i += 1) await boss.schedule(CRON_QUEUE, `${minute} * * * *`, { n: i }, { key: `k${i}` })
  if (Date.now() > due) throw new Error(`making ${count} schedules took longer than ${(2 * leadMs) / 1000} s`)
  return { due, close: () => boss.stop({ graceful: false }) }
}

/** No-op jobs: a batch is done when all of its jobs have begun. */
const workAll = (boss, { queue, handle, options }) =>
  boss.work(queue, options, async (jobs) => {
    for (const job of jobs) handle(job.data.n)
  })

/** Jobs that take some time or fail, each with its own outcome. */
const workEach = (boss, { queue, handle, options }) =>
  boss.work(queue, options, (jobs) =>
    Promise.all(
      jobs.map(async ({ id, data }) => {
        try {
          await handle(data.n)
          return { id, status: 'completed' }
        } catch (error) {
          return { id, status: 'failed', output: { message: error.message } }
        }
      }),
    ),
  )

async function started(url, options) {
  const boss = new PgBoss({ connectionString: url, max: 10, supervise: false, schedule: false, ...options })
  boss.on('error', (error) => process.stderr.write(`pg-boss: ${error.message}\n`))
  await boss.start()
  return boss
}
