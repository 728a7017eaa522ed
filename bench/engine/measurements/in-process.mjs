// 50,000 no-op runs of 1,000 agents in 10,000 sessions, drained in one process without a database. Each contestant runs in a
// separate process.
import fastq from 'fastq'
import PQueue from 'p-queue'
import { createReadyQueue } from '../../../dist/domain/queue/ready-queue.js'

const RUNS = 50_000
const SESSIONS = 10_000
const AGENTS = 1_000
const SLOTS = 1_000

/** Each contestant is prepared first; only the drain is timed. */
const CONTESTANTS = {
  escapement: preparePicking,
  'p-queue per key': preparePQueues,
  'fastq per key': prepareFastqs,
  'fastq, one queue': prepareFastq,
}

/** Runs per second of one contestant, after a warm-up drain. */
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

/** As in a node: all waiting runs are in the queue, and as many as there are slots start and end together. */
function preparePicking() {
  const now = 1_768_478_400_000
  const queue = createReadyQueue('org')
  queue.setLanes(new Set(['main']))
  queue.setExecutable(() => true)
  queue.setLimits({ maxConcurrent: 100_000, tasksInflight: 100_000, tasksPerAgentInflight: 10 })
  for (let index = 0; index < AGENTS; index += 1) queue.setAgent(`agent_${index}`, { maxConcurrent: 10 })
  for (let index = 0; index < RUNS; index += 1) queue.put(waiting(index, now))
  return () => drainByPicking(now, queue)
}

function drainByPicking(now, queue) {
  let left = RUNS
  const catchup = { inFlight: 0, limit: 10 }
  while (left > 0) {
    const started = []
    for (let held = 0; held < SLOTS; held += 1) {
      const run = queue.next({ now, lane: { name: 'main', size: SLOTS, held }, catchup })
      if (run === null) break
      run.state = 'running'
      queue.put(run)
      started.push(run)
    }
    if (started.length === 0) throw new Error('nothing was picked although work is left')
    for (const run of started) {
      run.state = 'success'
      queue.put(run)
    }
    left -= started.length
  }
}

const waiting = (index, now) => ({
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
  state: 'queued',
  attempt: 1,
  firstAttempt: 1,
  slot: null,
  interrupts: false,
  inGeneration: true,
  executorKey: 'bench',
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

/** Uses callbacks, because fastq is fastest with them, and calls them asynchronously, because handlers are asynchronous. */
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
