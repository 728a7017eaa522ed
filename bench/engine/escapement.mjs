// The library of Escapement, used as in an application.
import pg from 'pg'
import { createEscapement } from '../../dist/index.js'
import { PENDING_COUNT } from './seeding.mjs'
import { AGENTS, MIXED_AGENTS } from './world.mjs'

const HOLDER = 'holder'
const LANES = { many: 1_000, few: 500, mixed: 50 }
/** Raises the cap, so that no message is dropped: by default ten may wait in a session. */
const SESSIONS = { cap: 100_000 }
/** The same delay as for peers in which it can be set. */
const RETRIED = { max_retries: 3, strategy: 'fixed', base_ms: 50 }

export const sessionOf = ({ agent, session }) => `agent:${agent}:bench:dm:${session}`

/** Creates a library object on the benchmark database; prints warnings and errors. */
export const create = (url, options) =>
  createEscapement({
    database: { url },
    tasks: { max_queue: 10_000_000, max_per_agent: 10_000_000 },
    log: ({ level, message, facts }) => {
      if (level === 'error' || level === 'warn')
        process.stderr.write(`escapement: ${level}: ${message} ${JSON.stringify(facts)}\n`)
    },
    ...options,
  })

/** The same function for agents a0, a1, … */
export const agentsOf = (handler, count = AGENTS) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`a${i}`, handler]))

/** Migrates the database and registers the agents. */
export async function prepare(url) {
  const escapement = create(url, { agents: agentsOf(() => undefined) })
  await escapement.start()
  await escapement.stop()
}

/** Executes runs if there is a `handle`; otherwise it only submits, and accepted runs wait. */
export async function open(url, { handle, tuned = 'many' }) {
  return handle === undefined ? openClosed(url) : openWorking(url, { handle, tuned })
}

function openWorking(url, { handle, tuned }) {
  const ids = []
  const handler = (attempt) => {
    ids.push(attempt.runId)
    return handle(numberOf(attempt.payload.text))
  }
  const escapement = create(url, {
    agents: agentsOf(handler),
    lanes: { main: LANES[tuned] },
    sessions: SESSIONS,
  })
  return {
    ...submitting(escapement),
    start: async () => {
      await escapement.start()
      if (tuned === 'mixed')
        for (const agent of MIXED_AGENTS) await escapement.agents.update(agent, { retry_policy: RETRIED })
    },
    check: (count) => check(escapement, ids, count),
    close: () => escapement.stop(),
  }
}

/** For submission only: a run that never ends holds the lane's only slot, so nothing else starts. */
async function openClosed(url) {
  let held
  const holding = new Promise((resolve) => {
    held = resolve
  })
  const escapement = create(url, {
    agents: { [HOLDER]: holdUntilAborted(() => held()) },
    lanes: { main: 1 },
    sessions: SESSIONS,
  })
  await escapement.start()
  await escapement.agents.update(HOLDER, { retry_policy: { max_retries: 0 } })
  await escapement.sessions.send(sessionOf({ agent: HOLDER, session: 'hold' }), 'hold the lane')
  await holding
  return { ...submitting(escapement), close: () => escapement.stop('now') }
}

/** A handler that signals its start and ends only when it is aborted. */
export const holdUntilAborted =
  (begun) =>
  (_attempt, { signal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('told to end')))
      begun()
    })

/** Sends one message per job: alone, or a thousand in one call. */
function submitting({ sessions }) {
  return {
    batchSize: 1_000,
    submit: (job) => sessions.send(sessionOf(job), job.text),
    submitMany: async (jobs) => {
      const messages = jobs.map((job) => ({ session: sessionOf(job), text: job.text }))
      const { refused, items } = await sessions.sendMany({ messages })
      if (refused > 0) throw new Error(`messages were refused: ${JSON.stringify(items.find(({ ok }) => !ok))}`)
    },
  }
}

/** The number of the job of a text. */
const numberOf = (text) => Number(text.slice(text.lastIndexOf(' ') + 1))

/** Counts from the store, without the run that holds the lane. */
export async function observe(url) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const ask = async (text) => (await client.query(text)).rows[0]
  return {
    left: async () => (await ask(`select ${PENDING_COUNT} as left`)).left,
    counts: () =>
      ask(`select count(*) filter (where state is null)::int as left,
                  count(*) filter (where state = 'success')::int as completed,
                  count(*) filter (where state <> 'success')::int as failed
             from escapement.run where agent_id <> '${HOLDER}'`),
    close: () => client.end(),
  }
}

/** Reads random runs through the library and verifies their attempt, decision and timeline. */
async function check(escapement, ids, count) {
  let complete = 0
  for (let i = 0; i < count; i += 1) {
    const run = await escapement.runs.get(ids[Math.floor(Math.random() * ids.length)])
    const flaw = flawOf(run)
    if (flaw !== undefined) throw new Error(`run ${run.id}: ${flaw}: ${JSON.stringify(run)}`)
    complete += 1
  }
  return complete
}

function flawOf(run) {
  const steps = run.timeline.map(({ status }) => status)
  if (run.status !== 'success') return `its status is ${run.status}`
  if (run.attempts.length !== 1 || run.attempts[0].status !== 'success')
    return 'it does not have exactly one successful attempt'
  if (run.attempts[0].started_at === null || run.attempts[0].finished_at === null) return 'its attempt has no times'
  if (typeof run.decision?.code !== 'string' && typeof run.decision?.reason !== 'string') return 'it has no decision'
  if (!['queued', 'running', 'success'].every((step) => steps.includes(step))) return 'its timeline has gaps'
  return undefined
}

/** Creates schedules that are due at the same time, through the library. */
export async function dueTogether(url, { count, handle, lane, leadMs }) {
  const escapement = create(url, { agents: { a0: () => handle() }, lanes: { cron: lane } })
  await escapement.start()
  const due = Math.ceil((Date.now() + leadMs) / 1_000) * 1_000
  const made = []
  for (let i = 0; i < count; i += 1)
    made.push(escapement.schedules.create({ name: `due ${i}`, agent_id: 'a0', at: due, payload: 'go' }))
  await Promise.all(made)
  if (Date.now() > due) throw new Error(`making ${count} schedules took longer than ${leadMs / 1000} s`)
  return { due, close: () => escapement.stop() }
}
