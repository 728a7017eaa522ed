// graphile-worker with many schedules: lines of a crontab, which every process is given at its start.
import { Logger, makeWorkerUtils, parseCronItems, run as runWorker } from 'graphile-worker'
import { farAway } from './moments.mjs'

const TASK = 'bench'
const logger = new Logger(() => (level, message) => {
  if (level === 'error') process.stderr.write(`graphile-worker: ${message}\n`)
})

/** Makes its schema; its schedules are no rows. */
export async function make(url) {
  const utils = await makeWorkerUtils({ connectionString: url, logger })
  await utils.migrate()
  await utils.release()
}

/** A program that works on what comes due. */
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
