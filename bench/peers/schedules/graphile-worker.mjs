// graphile-worker with many schedules: lines of a crontab, which every process gets when it starts.
import { Logger, makeWorkerUtils, parseCronItems, run as runWorker } from 'graphile-worker'
import { farAway } from './moments.mjs'

const TASK = 'bench'
const logger = new Logger(() => (level, message) => {
  if (level === 'error') process.stderr.write(`graphile-worker: ${message}\n`)
})

/** Creates its schema; its schedules are not stored in rows. */
export async function make(url) {
  const utils = await makeWorkerUtils({ connectionString: url, logger })
  await utils.migrate()
  await utils.release()
}

/** Starts a program that executes due schedules. */
export async function run(url, { count }) {
  const items = Array.from({ length: count }, (_, i) => ({ task: TASK, match: farAway(i), identifier: `k${i}` }))
  const runner = await runWorker({
    preset: { worker: { connectionString: url, concurrentJobs: 10, maxPoolSize: 10, logger } },
    noHandleSignals: true,
    taskList: { [TASK]: () => undefined },
    parsedCronItems: parseCronItems(items),
  })
  return { close: () => runner.stop() }
}
