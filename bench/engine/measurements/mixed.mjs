// In the process of a contestant: the mixed load arrives while it works on fifty jobs at a time.
import { setTimeout as sleep } from 'node:timers/promises'
import { layersOf, mixedLoad } from '../mixed-load.mjs'
import { until } from '../world.mjs'
import { load } from './opening.mjs'

const LONGEST_MS = 180_000
/** The share of jobs whose time is measured: the last few wait for the delay before a retry. */
const MOST = 0.95

/** Waits by role in milliseconds, throughput, and the number of jobs that started out of order in their session. */
export async function mixed({ contestant, url, flood, seconds }) {
  const module = await load(contestant)
  await module.prepare(url)
  const jobs = mixedLoad({ flood, seconds })
  const watch = createWatch(jobs)
  const queue = await module.open(url, { handle: watch.handle, tuned: 'mixed' })
  await queue.start()
  const observer = await module.observe(url)
  const began = performance.now()
  await Promise.all([floodIn(queue, watch, jobs), arrive(queue, watch, jobs)])
  await until(() => watch.ended.length >= jobs.length, {
    ...{ everyMs: 20, timeoutMs: LONGEST_MS, what: `the end of ${jobs.length} jobs` },
  })
  await until(async () => (await observer.left()) === 0, { everyMs: 20, what: 'the last completion' })
  const counts = await observer.counts()
  await observer.close()
  await queue.close()
  const most = Math.floor(jobs.length * MOST)
  return {
    submitted: jobs.length,
    counts,
    perSecond: most / ((watch.ended[most - 1] - began) / 1000),
    allSeconds: (watch.ended.at(-1) - began) / 1000,
    waits: watch.waits,
    outOfOrder: watch.outOfOrder(),
    startedAgain: watch.starts() - jobs.length - jobs.filter(({ fails }) => fails).length,
  }
}

async function floodIn(queue, watch, jobs) {
  for (const layer of layersOf(jobs.filter(({ role }) => role === 'flood'))) {
    for (const job of layer) watch.begin(job)
    await queue.submitMany(layer)
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
      await queue.submit(job)
    }
    sent.set(job.session, send())
  }
  await Promise.all(sent.values())
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
    ...{ waits, ended, starts: () => starts, outOfOrder: () => outOfOrder },
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
