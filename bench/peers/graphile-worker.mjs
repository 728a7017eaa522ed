// graphile-worker in two variants. `plain`: the default in its documentation, with jobs fetched and completed one by one.
// `batched`: its fastest configuration, with a local queue of 500 and completions in batches. Both run 100 at a time; for the
// latency of single jobs 10, without a local queue.
import { Logger, makeWorkerUtils, parseCronItems, run } from 'graphile-worker'
import pg from 'pg'

const TASK = 'bench'
const JOBS = 'graphile_worker._private_jobs'
const LAST = `coalesce(pg_sequence_last_value(pg_get_serial_sequence('${JOBS}', 'id')::regclass), 0)`
const BATCHED = { localQueue: { size: 500 }, completeJobBatchDelay: 0 }
const WORK = {
  plain: { many: { concurrentJobs: 100 }, few: { concurrentJobs: 10 }, mixed: { concurrentJobs: 50 } },
  batched: {
    many: { ...BATCHED, concurrentJobs: 100 },
    few: { concurrentJobs: 10 },
    mixed: { ...BATCHED, concurrentJobs: 50 },
  },
}
const logger = new Logger(() => (level, message, meta) => {
  // Failed jobs are reported as errors, but jobs of the mixed load fail on purpose.
  if (level === 'error' && meta?.failure !== true) process.stderr.write(`graphile-worker: ${message}\n`)
})

export async function prepare(url) {
  const utils = await makeWorkerUtils({ connectionString: url, logger })
  await utils.migrate()
  await utils.release()
}

/** Works if there is a `handle`, tuned for many jobs, few jobs or the mixed load; otherwise it only submits. */
export async function open(url, { handle, tuned = 'many', variant }) {
  const utils = await makeWorkerUtils({ connectionString: url, logger, maxPoolSize: 10 })
  // A named queue runs one job at a time, which keeps the order of a session.
  const specOf = ({ session }) => (tuned === 'mixed' ? { queueName: session } : {})
  let runner
  return {
    batchSize: 1_000,
    submit: (job) => utils.addJob(TASK, job, specOf(job)),
    submitMany: (jobs) => utils.addJobs(jobs.map((job) => ({ identifier: TASK, payload: job, ...specOf(job) }))),
    start: async () => {
      runner = await started(url, { handle, work: WORK[variant][tuned] })
    },
    close: async () => {
      await runner?.stop()
      await utils.release()
    },
  }
}

/** Counts from the store. Completed jobs are deleted, so they are counted by their missing ids. */
export async function observe(url) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const ask = async (text) => (await client.query(text)).rows[0]
  return {
    left: async () => (await ask(`select count(*)::int as left from ${JOBS}`)).left,
    counts: () =>
      ask(`select count(*)::int as left, (${LAST} - count(*))::int as completed,
                  count(*) filter (where attempts >= max_attempts)::int as failed from ${JOBS}`),
    close: () => client.end(),
  }
}

/** Lines of a crontab with the same minute. */
export async function dueTogether(url, { count, handle, variant }) {
  const due = Math.ceil((Date.now() + 10_000) / 60_000) * 60_000
  const minute = new Date(due).getUTCMinutes()
  const items = parseCronItems(
    Array.from({ length: count }, (_, i) => ({ task: TASK, match: `${minute} * * * *`, identifier: `k${i}` })),
  )
  const runner = await started(url, { handle, work: WORK[variant].many, parsedCronItems: items })
  return { due, close: () => runner.stop() }
}

const started = (url, { handle, work, parsedCronItems = [] }) =>
  run({
    preset: { worker: { connectionString: url, ...work, maxPoolSize: 10, logger } },
    noHandleSignals: true,
    taskList: { [TASK]: (payload) => handle(payload.n) },
    parsedCronItems,
  })
