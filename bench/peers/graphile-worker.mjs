// graphile-worker as fast as it goes: a local queue of 500, completions in batches, 100 at a time; without them and with 10
// where the time of a single job counts.
import { Logger, makeWorkerUtils, parseCronItems, run } from 'graphile-worker'

const TASK = 'bench'
const WORK = {
  many: { localQueue: { size: 500 }, completeJobBatchDelay: 0, concurrentJobs: 100 },
  few: { concurrentJobs: 10 },
}
const logger = new Logger(() => (level, message) => {
  if (level === 'error') process.stderr.write(`graphile-worker: ${message}\n`)
})

/** Counts what is not completed yet: completed jobs are deleted. */
export const LEFT = 'select count(*)::int as left from graphile_worker._private_jobs'

export async function prepare(url) {
  const utils = await makeWorkerUtils({ connectionString: url, logger })
  await utils.migrate()
  await utils.release()
}

/** With `handle` it works, tuned for many jobs or for few; without it only submits. */
export async function open(url, { handle, tuned = 'many' }) {
  const utils = await makeWorkerUtils({ connectionString: url, logger, maxPoolSize: 10 })
  let runner
  return {
    batchSize: 1_000,
    submit: (job) => utils.addJob(TASK, job),
    submitMany: (jobs) => utils.addJobs(jobs.map((payload) => ({ identifier: TASK, payload }))),
    start: async () => {
      runner = await started(url, handle, { tuned })
    },
    close: async () => {
      await runner?.stop()
      await utils.release()
    },
  }
}

/** Lines of a crontab with the same minute. */
export async function dueTogether(url, { count, handle }) {
  const due = Math.ceil((Date.now() + 10_000) / 60_000) * 60_000
  const minute = new Date(due).getUTCMinutes()
  const items = parseCronItems(
    Array.from({ length: count }, (_, i) => ({ task: TASK, match: `${minute} * * * *`, identifier: `k${i}` })),
  )
  const runner = await started(url, handle, { tuned: 'many', parsedCronItems: items })
  return { due, close: () => runner.stop() }
}

const started = (url, handle, { tuned, parsedCronItems = [] }) =>
  run({
    preset: { worker: { connectionString: url, ...WORK[tuned], maxPoolSize: 10, logger } },
    noHandleSignals: true,
    taskList: {
      [TASK]: (payload) => {
        handle(payload)
      },
    },
    parsedCronItems,
  })
