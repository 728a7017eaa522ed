// pg-boss with many schedules and default settings: maintenance on, schedules checked twice a minute, or every second on request.
import { PgBoss } from 'pg-boss'
import { inFlight } from '../../engine/world.mjs'
import { farAway } from './moments.mjs'

const QUEUE = 'bench_cron'

/** Creates `count` schedules, none of them due soon. */
export async function make(url, { count }) {
  const boss = await started(url, { supervise: false, schedule: false })
  await boss.createQueue(QUEUE)
  await inFlight(count, 10, (i) => boss.schedule(QUEUE, farAway(i), { n: i }, { key: `k${i}` }))
  await boss.stop({ graceful: false })
}

/** Starts a program that executes due schedules. `lookEverySecond`: checks as often as pg-boss allows. */
export async function run(url, { lookEverySecond = false }) {
  const often = lookEverySecond ? { cronMonitorIntervalSeconds: 1, cronWorkerIntervalSeconds: 1 } : {}
  const boss = await started(url, often)
  await boss.work(QUEUE, async () => undefined)
  return { close: () => boss.stop({ graceful: false }) }
}

async function started(url, options) {
  const boss = new PgBoss({ connectionString: url, max: 10, ...options })
  boss.on('error', (error) => process.stderr.write(`pg-boss: ${error.message}\n`))
  await boss.start()
  return boss
}
