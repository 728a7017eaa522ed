// How late the runs of schedules start. Each function runs in a separate process.
import { pathToFileURL } from 'node:url'
import { setTimeout as sleep } from 'node:timers/promises'
import { create } from '../escapement.mjs'
import { withClient } from '../seeding.mjs'
import { cpuSecondsOf } from '../server.mjs'
import { quantile } from '../statistics.mjs'
import { cpuSeconds } from '../world.mjs'

/** A run that starts later than this after the end of the window counts as missed. */
const GRACE_MS = 30_000

/** Creates an enabled schedule for seeding to multiply; its own first occurrence is a day away. */
export async function makeSchedule({ url, everySeconds }) {
  const escapement = create(url, { agents: { a0: () => undefined } })
  await escapement.start()
  const anchor = Date.now() + 86_400_000
  await escapement.schedules.create({
    name: 'idle',
    agent_id: 'a0',
    every_seconds: everySeconds,
    anchor,
    payload: 'go',
  })
  await escapement.stop()
}

/** Runs a node with all schedules that are due in the window; see `seedPhases`. */
export async function ownLateness({ url, window, lane, pid }) {
  const book = createBook(window)
  const escapement = create(url, {
    agents: { a0: (attempt) => book.note(attempt.nominalTime, attempt.scheduleId) },
    lanes: { cron: lane },
  })
  await escapement.start()
  if (Date.now() > window.from) throw new Error('the node was not up before the window began')
  const facts = await attend(book, { window, pid })
  const skipped = await withClient(url, async (client) => {
    const { rows } = await client.query(
      `select count(*)::int as count from run where state is not null and state <> 'success'`,
    )
    return rows[0].count
  })
  await escapement.stop()
  return { ...facts, skipped }
}

/** The same for a peer, which creates its schedules itself. */
export async function peerLateness({ file, url, count, perSecond, seconds, warmUpSeconds, pid }) {
  const { everySo } = await import(pathToFileURL(file).href)
  const books = []
  const handle = (nominal, id) => books[0]?.note(nominal, id)
  const running = await everySo(url, { count, periodMs: (count / perSecond) * 1_000, handle })
  const from = running.first + warmUpSeconds * 1_000
  const window = { from, to: from + seconds * 1_000, expected: perSecond * seconds }
  books.push(createBook(window))
  const facts = await attend(books[0], { window, pid })
  await running.close()
  return facts
}

/** Records every start whose occurrence is inside the window. */
function createBook({ from, to }) {
  const late = []
  const seen = new Set()
  return {
    late,
    seen,
    note: (nominal, id) => {
      if (nominal < from || nominal >= to) return
      late.push(Date.now() - nominal)
      seen.add(`${id} ${nominal}`)
    },
  }
}

async function attend({ late, seen }, { window: { from, to, expected }, pid }) {
  await sleep(from - Date.now())
  const node = cpuSeconds()
  const server = cpuSecondsOf(pid)
  await sleep(to - Date.now())
  const seconds = (to - from) / 1_000
  const cpu = {
    nodeCpuPercent: ((cpuSeconds() - node) / seconds) * 100,
    serverCpuPercent: server === null ? null : ((cpuSecondsOf(pid) - server) / seconds) * 100,
  }
  const end = Date.now() + GRACE_MS
  while (seen.size < expected && Date.now() < end) await sleep(20)
  return {
    ...{ expected, started: seen.size, missed: expected - seen.size, doubled: late.length - seen.size },
    ...{ p50: quantile(late, 0.5), p99: quantile(late, 0.99), max: late.reduce((most, ms) => Math.max(most, ms), 0) },
    ...cpu,
  }
}
