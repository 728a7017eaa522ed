// How many picking decisions a core makes in a second: 50,000 no-op runs of 1,000 agents in 10,000 sessions, drained in
// turns through pickRuns, the function the engine calls, with session order, session, agent, org and lane limits on.
// Beside it, in the same run: p-queue with one queue per session, and fastq, which knows neither keys nor limits.
import fastq from 'fastq'
import PQueue from 'p-queue'
import { pickRuns } from '../dist/core/picking/picking.js'

const RUNS = 50_000
const SESSIONS = 10_000
const AGENTS = 1_000
const SLOTS = 1_000
const REPETITIONS = 3

/** Picks per second, medians of three, the contestants taking turns. */
export async function run() {
  // Each prepares its world first; only the draining is timed.
  const contestants = { escapement: preparePicking, 'p-queue per key': preparePQueues, 'fastq (no keys)': prepareFastq }
  const speeds = Object.fromEntries(Object.keys(contestants).map((name) => [name, []]))
  preparePicking()()
  for (let repetition = 0; repetition < REPETITIONS; repetition += 1)
    for (const [name, prepare] of Object.entries(contestants)) {
      const drain = prepare()
      globalThis.gc?.()
      const started = performance.now()
      await drain()
      speeds[name].push(RUNS / ((performance.now() - started) / 1000))
    }
  const ours = median(speeds.escapement)
  return Object.entries(speeds).map(([name, values]) => ({
    name,
    'decisions/s': Math.round(median(values)),
    'ours ×': Number((ours / median(values)).toFixed(2)),
    ok: name !== 'escapement' || ours >= 500_000,
  }))
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]

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

function prepareFastq() {
  const queue = fastq.promise(async () => undefined, SLOTS)
  return () => Promise.all(Array.from({ length: RUNS }, (_, index) => queue.push(index)))
}
