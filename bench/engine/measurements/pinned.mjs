// Submits and executes at full speed, first without and then with a transaction that pins the horizon. Runs in a separate
// process.
import { pathToFileURL } from 'node:url'
import { setTimeout as sleep } from 'node:timers/promises'
import { agentsOf, create, sessionOf } from '../escapement.mjs'
import { withClient } from '../seeding.mjs'
import { cpuSecondsOf } from '../server.mjs'
import { makeJob, until } from '../world.mjs'

const WINDOW_SECONDS = 5
const WARM_UP_SECONDS = 3
/** At most what the sessions can hold, or the cap would drop messages. */
const BACKLOG = 2_000
const CALLERS = 256

/** Runs per second in windows of five seconds, by phase, and the server's CPU time per run. */
export async function steady({ contestant, url, seconds, pid }) {
  const count = { sent: 0, handled: 0, stopped: false }
  const queue = await open(contestant, url, count)
  await queue.start()
  const calling = queue.submitAlways()
  await Promise.race([sleep(WARM_UP_SECONDS * 1_000), calling])
  const free = await phase(count, { seconds: seconds.free, pid, calling })
  const holder = pin(url)
  await holder.ready
  const pinned = await phase(count, { seconds: seconds.pinned, pid, calling })
  count.stopped = true
  await calling
  await until(() => count.handled >= count.sent, { what: `${count.sent} jobs handled`, timeoutMs: 60_000 })
  await queue.close()
  holder.release()
  return { free, pinned, handled: count.handled }
}

/** `calling` settles only if submitting fails; the failure then ends the phase. */
async function phase(count, { seconds, pid, calling }) {
  const before = { handled: count.handled, cpu: cpuSecondsOf(pid) }
  const windows = []
  for (let i = 0; i < seconds / WINDOW_SECONDS; i += 1) {
    const handled = count.handled
    const began = performance.now()
    await Promise.race([sleep(WINDOW_SECONDS * 1_000), calling])
    windows.push(Math.round((count.handled - handled) / ((performance.now() - began) / 1_000)))
  }
  const done = count.handled - before.handled
  return {
    windows,
    mean: windows.reduce((sum, one) => sum + one, 0) / windows.length,
    serverMicros: before.cpu === null || done === 0 ? null : ((cpuSecondsOf(pid) - before.cpu) / done) * 1e6,
  }
}

async function open({ name, file, variant }, url, count) {
  const handle = () => void (count.handled += 1)
  if (name === 'escapement') return own(url, { count, handle })
  const module = await import(pathToFileURL(file).href)
  await module.prepare(url)
  const queue = await module.open(url, { handle, tuned: 'many', variant })
  return { start: () => queue.start(), submitAlways: () => submitBatches(queue, count), close: () => queue.close() }
}

/** Submits as an application would: one call per message. */
function own(url, { count, handle }) {
  const escapement = create(url, { agents: agentsOf(handle), lanes: { main: 500 } })
  const caller = async () => {
    while (!count.stopped) {
      if (count.sent - count.handled > BACKLOG) await sleep(1)
      else {
        const job = makeJob(count.sent)
        count.sent += 1
        await escapement.sessions.send(sessionOf(job), job.text)
      }
    }
  }
  return {
    start: () => escapement.start(),
    submitAlways: () => Promise.all(Array.from({ length: CALLERS }, caller)),
    close: () => escapement.stop(),
  }
}

/** Submits in batches, because otherwise submission would limit the peers; one single job wakes workers that need a wake-up. */
async function submitBatches(queue, count) {
  while (!count.stopped) {
    if (count.sent - count.handled > BACKLOG) await sleep(1)
    else {
      const jobs = Array.from({ length: queue.batchSize }, (_, i) => makeJob(count.sent + i))
      count.sent += jobs.length + 1
      await queue.submitMany(jobs)
      await queue.submit(makeJob(count.sent - 1))
    }
  }
}

/** A transaction that has read once and stays open, so that no row that dies from now on can be removed. */
function pin(url) {
  let release
  const released = new Promise((resolve) => {
    release = resolve
  })
  let looked
  const ready = new Promise((resolve) => {
    looked = resolve
  })
  void withClient(url, async (client) => {
    await client.query('begin isolation level repeatable read')
    await client.query('select count(*) from pg_class')
    looked()
    await released
  })
  return { ready, release }
}
