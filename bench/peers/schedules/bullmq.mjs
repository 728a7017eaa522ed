// BullMQ with many schedules: job schedulers, on Redis or on PostgreSQL. The next job of each is always in the store.
import { inFlight } from '../../engine/world.mjs'
import { backendOf } from '../bullmq.mjs'
import { farAway } from './moments.mjs'

const QUEUE = 'bench_cron'
const JOB = 'job'
/** The number of schedules written first, to estimate how long all of them will take. */
const TRIAL = 1_000
const WIDTH = 200

/** Creates `count` schedules, none of them due soon. */
export async function make(url, { count }) {
  const queue = await queueOf(url, { migrate: true })
  const one = (i) =>
    queue.upsertJobScheduler(`k${i}`, { pattern: farAway(i), tz: 'UTC' }, { name: JOB, data: { n: i } })
  await inFlight(count, WIDTH, one)
  await queue.close()
}

/** Starts a program that executes due schedules. */
export async function run(url) {
  const worker = workerOf(url, async () => undefined)
  await worker.waitUntilReady()
  return { close: () => worker.close() }
}

/**
 * Schedules that are due every `periodMs`, each at a different time. `handle(nominal, id)` is called for every start. Returns
 * the first due time, when all of them are written.
 */
export async function everySo(url, { count, periodMs, handle }) {
  const queue = await queueOf(url, { migrate: true })
  const write = (key, startDate) =>
    queue.upsertJobScheduler(key, { every: periodMs, startDate }, { name: JOB, data: {} })
  const began = Date.now()
  await inFlight(TRIAL, WIDTH, (i) => write(`trial${i}`, began + 86_400_000))
  const first = Date.now() + Math.ceil(((Date.now() - began) / TRIAL) * count * 1.5) + 5_000
  const worker = workerOf(url, async ({ id }) => handle(momentOf(id), id))
  await worker.waitUntilReady()
  await inFlight(count, WIDTH, (i) => write(`k${i}`, first + i * (periodMs / count)))
  if (Date.now() > first) throw new Error(`writing ${count} job schedulers took longer than it was given`)
  const close = async () => {
    await worker.close()
    await queue.close()
  }
  return { first, close }
}

/** The id of a job of a schedule ends with its due time. */
function momentOf(id) {
  const moment = Number(id.slice(id.lastIndexOf(':') + 1))
  if (!Number.isSafeInteger(moment)) throw new Error(`the id of job ${id} contains no due time`)
  return moment
}

async function queueOf(url, more) {
  const { classes, connection } = backendOf(url, more)
  const queue = new classes.Queue(QUEUE, { connection })
  queue.on('error', report)
  await queue.waitUntilReady()
  return queue
}

function workerOf(url, work) {
  const { classes, connection } = backendOf(url)
  const worker = new classes.Worker(QUEUE, work, { connection, concurrency: 100, removeOnComplete: { count: 1_000 } })
  worker.on('error', report)
  return worker
}

const report = (error) => process.stderr.write(`bullmq: ${error.message}\n`)
