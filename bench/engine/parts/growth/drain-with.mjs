// A full queue and several nodes: speed and buffers per run, from when all of them work.
import { setTimeout as sleep } from 'node:timers/promises'
import { OURS, TOUCHED } from '../../measurements/growth.mjs'
import { PENDING_COUNT, withClient } from '../../seeding.mjs'

const EVERY_MS = 100

/** Lets nodes, each in a separate process, drain `count` pending runs, and takes samples. */
export async function drainWith(bench, { url, nodes, count }) {
  return withClient(url, async (client) => {
    await client.query('select pg_stat_statements_reset()')
    const samples = []
    let isOver = false
    const working = Promise.all(
      Array.from({ length: nodes }, () => bench.ask('workOff', { url, agents: 1_000 }, { file: 'growth.mjs' })),
    ).finally(() => {
      isOver = true
    })
    // A node that fails ends the sampling; its error is handled below.
    working.catch(() => undefined)
    while (!isOver) {
      samples.push(await look(client))
      await sleep(EVERY_MS)
    }
    const reports = await working
    const handled = reports.reduce((sum, report) => sum + report.handled, 0)
    if (handled !== count) throw new Error(`${nodes} nodes ran ${handled} of ${count} runs`)
    return { ...rateOf(samples, reports), nodes }
  })
}

async function look(client) {
  const { rows: touched } = await client.query(TOUCHED)
  const { rows } = await client.query(`${OURS} select ${PENDING_COUNT} as left`)
  return { at: Date.now(), left: rows[0].left, blocks: touched.reduce((sum, { blocks }) => sum + Number(blocks), 0) }
}

/** Between the first sample after all have begun and the last one with work left. */
function rateOf(samples, reports) {
  const idle = reports.filter(({ handled }) => handled === 0).length
  const begun = Math.max(...reports.map(({ first }) => first ?? 0))
  const during = samples.filter(({ at, left }) => at > begun && left > 0)
  const [first, last] = [during[0], during.at(-1)]
  if (first === undefined || first === last) throw new Error('the queue was empty before anybody could look')
  const runs = first.left - last.left
  return {
    perSecond: runs / ((last.at - first.at) / 1_000),
    buffersPerRun: (last.blocks - first.blocks) / runs,
    runs,
    idleNodes: idle,
    handled: reports.map(({ handled }) => handled),
  }
}
