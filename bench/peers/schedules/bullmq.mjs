// BullMQ with many schedules: job schedulers, on Redis or on PostgreSQL. Each has its next job in the store all the time.
import { inFlight } from '../../engine/world.mjs'
import { backendOf } from '../bullmq.mjs'
import { farAway } from './moments.mjs'

const QUEUE = 'bench_cron'
const JOB = 'job'
/** So many are written first, to see how long all of them will take. */
const TRIAL = 1_000
const WIDTH = 200

/** Writes so many schedules, none of them due soon. */
export async function make(url, { count }) {
  const queue = await queueOf(url, { migrate: true })
  const one = (i) =>
    queue.upsertJobScheduler(`k${i}`, { pattern: farAway(i), tz: 'UTC' }, { name: JOB, data: { n: i } })
  await inFlight(count, WIDTH, one)
  await queue.close()
}

/** A program that works on what comes due. */
export async function run(url) {
  const worker = workerOf(url, async () => undefined)
  await worker.waitUntilReady()
  return { close: () => worker.close() }
}

/**
 * Schedules that come due every `periodMs`, each at a moment of its own, one after the other. `handle(nominal, id)` hears
 * of every start. Answers with the first moment of all, when all of them are written.
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

/** The name of a job of a schedule ends with its moment. */
function momentOf(id) {
  const moment = Number(id.slice(id.lastIndexOf(':') + 1))
  if (!Number.isSafeInteger(moment)) throw new Error(`the job ${id} does not say when it was due`)
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
