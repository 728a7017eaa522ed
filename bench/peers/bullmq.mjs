// BullMQ in its fastest configuration, on Redis or on PostgreSQL: one worker with 100 jobs at a time, and 10 for the latency of
// single jobs. It keeps completed jobs, as by default. The address determines the store: a Redis socket is a path.
import bullmq from 'bullmq'

const QUEUE = 'bench'
const JOB = 'job'
const CONCURRENCY = { many: 100, few: 10, mixed: 50 }
const RETRIED = { attempts: 4, backoff: { type: 'fixed', delay: 50 } }
const UNFINISHED = ['wait', 'active', 'delayed', 'prioritized', 'waiting-children']

/** BullMQ's classes for the store, and how they connect to it. */
export function backendOf(url, more = {}) {
  if (url.startsWith('/')) return { classes: bullmq, connection: { path: url } }
  const classes = bullmq.withBackend(bullmq.createPostgresBackend)
  return { classes, connection: { connectionString: url, max: 10, ...more } }
}

export async function prepare(url) {
  const { classes, connection } = backendOf(url, { migrate: true })
  const queue = new classes.Queue(QUEUE, { connection })
  await queue.waitUntilReady()
  await queue.close()
}

/** Works if there is a `handle`, tuned for many jobs, few jobs or the mixed load; otherwise it only submits. */
export async function open(url, { handle, tuned = 'many' }) {
  const { classes, connection } = backendOf(url)
  const queue = new classes.Queue(QUEUE, {
    connection,
    ...(tuned === 'mixed' ? { defaultJobOptions: RETRIED } : {}),
  })
  queue.on('error', report)
  await queue.waitUntilReady()
  const worker = handle === undefined ? undefined : await readyWorker(url, { handle, concurrency: CONCURRENCY[tuned] })
  return {
    batchSize: 1_000,
    submit: (job) => queue.add(JOB, job),
    submitMany: (jobs) => queue.addBulk(jobs.map((data) => ({ name: JOB, data }))),
    start: () => {
      void worker.run()
    },
    close: async () => {
      await worker?.close()
      await queue.close()
    },
  }
}

async function readyWorker(url, { handle, concurrency }) {
  const { classes, connection } = backendOf(url)
  const worker = new classes.Worker(QUEUE, (job) => handle(job.data.n), { connection, concurrency, autorun: false })
  worker.on('error', report)
  await worker.waitUntilReady()
  return worker
}

/** Counts from the store. */
export async function observe(url) {
  const { classes, connection } = backendOf(url)
  const queue = new classes.Queue(QUEUE, { connection })
  await queue.waitUntilReady()
  const left = async () => Object.values(await queue.getJobCounts(...UNFINISHED)).reduce((sum, one) => sum + one, 0)
  return {
    left,
    counts: async () => ({ left: await left(), ...(await queue.getJobCounts('completed', 'failed')) }),
    close: () => queue.close(),
  }
}

/** Job schedulers whose pattern, with seconds, matches once per hour. */
export async function dueTogether(url, { count, handle, leadMs }) {
  const { classes, connection } = backendOf(url)
  const queue = new classes.Queue(QUEUE, { connection })
  const worker = await readyWorker(url, { handle, concurrency: CONCURRENCY.many })
  void worker.run()
  const due = Math.ceil((Date.now() + leadMs) / 1_000) * 1_000
  const at = new Date(due)
  const pattern = `${at.getUTCSeconds()} ${at.getUTCMinutes()} * * * *`
  const made = Array.from({ length: count }, (_, i) =>
    queue.upsertJobScheduler(`k${i}`, { pattern, tz: 'UTC' }, { name: JOB, data: { n: i } }),
  )
  await Promise.all(made)
  if (Date.now() > due) throw new Error(`making ${count} job schedulers took longer than ${leadMs / 1000} s`)
  return {
    due,
    close: async () => {
      await worker.close()
      await queue.close()
    },
  }
}

const report = (error) => process.stderr.write(`bullmq: ${error.message}\n`)
