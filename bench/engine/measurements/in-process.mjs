// 50,000 no-op runs of 1,000 agents in 10,000 sessions, worked off inside one process without a database. Each contestant
// runs in a process of its own.
import fastq from 'fastq'
import PQueue from 'p-queue'
import { pickRuns } from '../../../dist/core/picking/picking.js'

const RUNS = 50_000
const SESSIONS = 10_000
const AGENTS = 1_000
const SLOTS = 1_000

/** Each prepares its world first; only the draining is timed. */
const CONTESTANTS = {
  escapement: preparePicking,
  'p-queue per key': preparePQueues,
  'fastq per key': prepareFastqs,
  'fastq, one queue': prepareFastq,
}

/** Runs worked off per second by one contestant, after one drain that does not count. */
export async function inProcess({ contestant }) {
  let perSecond = 0
  for (let round = 0; round < 2; round += 1) {
    const drain = CONTESTANTS[contestant]()
    globalThis.gc?.()
    const started = performance.now()
    await drain()
    perSecond = RUNS / ((performance.now() - started) / 1000)
  }
  return perSecond
}

/** Turn after turn: load the heads of idle sessions, decide, and let everything that was picked end. */
function preparePicking() {
  const now = 1_768_478_400_000
  const queues = Array.from({ length: SESSIONS }, () => [])
  for (let index = 0; index < RUNS; index += 1) queues[index % SESSIONS].push(candidate(index, now))
  const agents = new Map(
    Array.from({ length: AGENTS }, (_, index) => [
      `agent_${index}`,
      { load: { inFlight: 0, limit: 10 }, tasks: { inFlight: 0, limit: 10 }, shares: new Map() },
    ]),
  )
  return () => drainByPicking(now, queues, agents)
}

function drainByPicking(now, queues, agents) {
  let left = RUNS
  let cursor = 0
  while (left > 0) {
    const heads = []
    for (let looked = 0; looked < SESSIONS && heads.length < 2 * SLOTS; looked += 1) {
      const queue = queues[cursor]
      cursor = (cursor + 1) % SESSIONS
      if (queue.length > 0) heads.push(queue[0])
    }
    const org = {
      load: { inFlight: 0, limit: 100_000 },
      tasks: { inFlight: 0, limit: 100_000 },
      shares: new Map(),
      agents,
      sessions: new Map(),
      budgets: new Map(),
    }
    const picked = pickRuns({
      now,
      lanes: new Map([['main', { size: SLOTS, held: 0 }]]),
      catchup: { inFlight: 0, limit: 10 },
      orgs: new Map([['org', org]]),
      candidates: heads,
    })
    if (picked.length === 0) throw new Error('nothing was picked although work is left')
    for (const run of picked) queues[run.seq % SESSIONS].shift()
    left -= picked.length
  }
}

const candidate = (index, now) => ({
  id: `run_${index}`,
  orgId: 'org',
  agentId: `agent_${index % AGENTS}`,
  sessionKey: `session_${index % SESSIONS}`,
  trigger: 'message',
  lane: 'main',
  priority: index % 3,
  createdAt: now + index,
  seq: index,
  notBefore: null,
  retrying: false,
  parkedBehind: null,
  interrupts: false,
  executable: true,
  reserves: [],
})

function preparePQueues() {
  const queues = Array.from({ length: SESSIONS }, () => new PQueue({ concurrency: 1 }))
  return () => Promise.all(Array.from({ length: RUNS }, (_, index) => queues[index % SESSIONS].add(() => undefined)))
}

function prepareFastqs() {
  const queues = Array.from({ length: SESSIONS }, () => fastq(work, 1))
  return () => drainOf((index, done) => queues[index % SESSIONS].push(index, done))
}

function prepareFastq() {
  const queue = fastq(work, SLOTS)
  return () => drainOf((index, done) => queue.push(index, done))
}

/** Callbacks, because fastq is fastest with them; later, because a handler answers later. */
const work = (_index, done) => process.nextTick(done)

const drainOf = (push) =>
  new Promise((resolve) => {
    let left = RUNS
    const done = () => {
      left -= 1
      if (left === 0) resolve()
    }
    for (let index = 0; index < RUNS; index += 1) push(index, done)
  })
