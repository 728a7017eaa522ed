// In the process of a contestant: the mixed load arrives while it works on fifty jobs at a time.
import { setTimeout as sleep } from 'node:timers/promises'
import { layersOf, mixedLoad } from '../mixed-load.mjs'
import { load } from './opening.mjs'

/** How long a contestant may take for all jobs, then for the last completion, and then to close. */
const LONGEST_MS = 180_000
const LAST_COMPLETION_MS = 30_000
const CLOSING_MS = 10_000
/** The share of jobs whose time is measured: the last few wait for the delay before a retry. */
const MOST = 0.95

/**
 * Waits by role in milliseconds, throughput, and the number of jobs that started out of order in their session. A
 * contestant that does not end counts as what it finished in time; jobs that never started have waited until then.
 */
export async function mixed(options) {
  const { contestant, url, flood, seconds, longestMs = LONGEST_MS, closingMs = CLOSING_MS } = options
  const module = await load(contestant)
  await module.prepare(url)
  const jobs = mixedLoad({ flood, seconds })
  const watch = createWatch(jobs)
  const queue = await module.open(url, { handle: watch.handle, tuned: 'mixed' })
  await queue.start()
  const observer = await module.observe(url)
  const began = performance.now()
  const submitting = Promise.all([floodIn(queue, watch, jobs), arrive(queue, watch, jobs)])
  const hasEnded = await within(longestMs, async (isOver) => {
    await submitting
    while (watch.ended.length < jobs.length && !isOver()) await sleep(20)
  })
  const result = resultOf(watch, { jobs, began, hasEnded })
  if (hasEnded)
    await within(LAST_COMPLETION_MS, async (isOver) => {
      while ((await observer.left()) > 0 && !isOver()) await sleep(20)
    })
  const counts = await observer.counts()
  await observer.close()
  await within(closingMs, () => queue.close())
  return { ...result, counts }
}

function resultOf(watch, { jobs, began, hasEnded }) {
  const now = performance.now()
  const finished = watch.ended.length
  const most = Math.floor(jobs.length * MOST)
  const measured = finished >= most ? { count: most, until: watch.ended[most - 1] } : { count: finished, until: now }
  return {
    submitted: jobs.length,
    finished,
    perSecond: measured.count / ((measured.until - began) / 1000),
    allSeconds: hasEnded ? (watch.ended.at(-1) - began) / 1000 : null,
    waits: watch.waits(now),
    outOfOrder: watch.outOfOrder(),
    startedAgain: hasEnded ? watch.starts() - jobs.length - jobs.filter(({ fails }) => fails).length : null,
  }
}

/** Whether the work ended in time. Work that failed or goes on is left alone: the process ends after the answer. */
async function within(ms, work) {
  let over = false
  const timer = new AbortController()
  const done = work(() => over).then(
    () => true,
    (error) => {
      printError(error)
      return false
    },
  )
  // Keeps the process alive: what never ends may leave nothing else to wait for.
  const late = sleep(ms, false, { signal: timer.signal }).catch(() => false)
  const result = await Promise.race([done, late])
  over = true
  timer.abort()
  return result
}

function printError(error) {
  process.stderr.write(`mixed: ${error?.stack ?? error}\n`)
}

async function floodIn(queue, watch, jobs) {
  for (const layer of layersOf(jobs.filter(({ role }) => role === 'flood'))) {
    for (const job of layer) watch.begin(job)
    await queue.submitMany(layer).catch(printError)
  }
}

/** Submits the other jobs at their time; in a session, each only after the one before was accepted. */
async function arrive(queue, watch, jobs) {
  const began = performance.now()
  const sent = new Map()
  const coming = jobs.filter(({ role }) => role !== 'flood').toSorted((a, b) => a.at - b.at)
  for (const job of coming) {
    const early = job.at - (performance.now() - began)
    if (early > 1) await sleep(early)
    const send = async () => {
      await sent.get(job.session)
      watch.begin(job)
      await queue.submit(job).catch(printError)
    }
    sent.set(job.session, send())
  }
  await Promise.all(sent.values())
}

/** The waits, with those of submitted jobs that have not started. */
function withUnstarted(waits, { jobs, begun, waiting, now }) {
  const unstarted = jobs.filter(({ n }) => waiting.has(n) && begun.has(n))
  return Object.fromEntries(
    Object.entries(waits).map(([role, started]) => [
      role,
      [...started, ...unstarted.filter((job) => job.role === role).map(({ n }) => now - begun.get(n))],
    ]),
  )
}

/** Executes the jobs and records their times. */
function createWatch(jobs) {
  const begun = new Map()
  const waiting = new Set(jobs.map(({ n }) => n))
  const failing = new Set(jobs.filter(({ fails }) => fails).map(({ n }) => n))
  const endedOf = new Map()
  const ended = []
  const waits = { flood: [], steady: [], small: [] }
  let starts = 0
  let outOfOrder = 0
  const noteStart = ({ n, role, session, place }) => {
    starts += 1
    if (!waiting.delete(n)) return
    waits[role].push(performance.now() - begun.get(n))
    if ((endedOf.get(session) ?? 0) < place) outOfOrder += 1
  }
  return {
    ...{ ended, starts: () => starts, outOfOrder: () => outOfOrder },
    waits: (now) => withUnstarted(waits, { jobs, begun, waiting, now }),
    begin: ({ n }) => begun.set(n, performance.now()),
    handle: async (n) => {
      const job = jobs[n]
      noteStart(job)
      await sleep(job.ms)
      if (failing.delete(n)) throw new Error('fails once, as it was asked to')
      endedOf.set(job.session, (endedOf.get(job.session) ?? 0) + 1)
      ended.push(performance.now())
    },
  }
}
