// pg-boss as fast as it goes: two workers with batches of 1,000, woken by notifications; one worker, one at a time, where
// the time of a single job counts.
import { PgBoss } from 'pg-boss'

const QUEUE = 'bench'
const CRON_QUEUE = 'bench_cron'
const WORK = {
  many: { batchSize: 1_000, localConcurrency: 2, burstWhenBatchFull: true, pollingIntervalSeconds: 0.5 },
  few: { batchSize: 1, localConcurrency: 1, pollingIntervalSeconds: 0.5 },
}

/** Counts what is not completed yet. */
export const LEFT = `select count(*)::int as left from pgboss.job where name = '${QUEUE}' and state < 'completed'`

export async function prepare(url) {
  const boss = await started(url, {})
  await boss.createQueue(QUEUE, { notify: true })
  await boss.createQueue(CRON_QUEUE, { notify: true })
  await boss.stop({ graceful: false })
}

/** With `handle` it works, tuned for many jobs or for few; without it only submits. */
export async function open(url, { handle, tuned = 'many' }) {
  const boss = await started(url, { useListenNotify: handle !== undefined })
  return {
    batchSize: 1_000,
    submit: (job) => boss.send(QUEUE, job),
    submitMany: (jobs) =>
      boss.insert(
        QUEUE,
        jobs.map((data) => ({ data })),
      ),
    start: () => work(boss, { queue: QUEUE, handle, options: WORK[tuned] }),
    close: () => boss.stop({ graceful: false }),
  }
}

/** Schedules of one minute, looked at as often as pg-boss allows. */
export async function dueTogether(url, { count, handle }) {
  const boss = await started(url, {
    useListenNotify: true,
    schedule: true,
    cronMonitorIntervalSeconds: 1,
    cronWorkerIntervalSeconds: 1,
  })
  await work(boss, { queue: CRON_QUEUE, handle, options: WORK.many })
  // Half a minute to create them, or a part of them would be due a minute before the rest.
  const due = Math.ceil((Date.now() + 30_000) / 60_000) * 60_000
  const minute = new Date(due).getUTCMinutes()
  for (let i = 0; i < count; i += 1) await boss.schedule(CRON_QUEUE, `${minute} * * * *`, { i }, { key: `k${i}` })
  return { due, close: () => boss.stop({ graceful: false }) }
}

const work = (boss, { queue, handle, options }) =>
  boss.work(queue, options, async (jobs) => {
    for (const job of jobs) handle(job.data)
  })

async function started(url, options) {
  const boss = new PgBoss({ connectionString: url, max: 10, supervise: false, schedule: false, ...options })
  boss.on('error', (error) => process.stderr.write(`pg-boss: ${error.message}\n`))
  await boss.start()
  return boss
}
