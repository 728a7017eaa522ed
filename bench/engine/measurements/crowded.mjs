// A node that works for an org with a very long queue and for another org, and reads of the long queue. Runs in a separate
// process.
import { setTimeout as sleep } from 'node:timers/promises'
import { agentsOf, create, sessionOf } from '../escapement.mjs'
import { withClient } from '../seeding.mjs'
import { quantile } from '../statistics.mjs'
import { until } from '../world.mjs'

/** The org with the long queue; messages are sent to another org. */
export const CROWDED_ORG = 'crowded'
const OTHER = 'other number '
const EVERY_MS = 20
const TASK_MS = 100
const SLOTS = 100

export async function crowd({ url, agents, seconds, timeoutMs }) {
  const others = { begun: [], late: [] }
  let started = 0
  const handler = async ({ payload }) => {
    const text = payload.text ?? ''
    if (text.startsWith(OTHER)) others.late.push(performance.now() - others.begun[Number(text.slice(OTHER.length))])
    else {
      started += 1
      await sleep(TASK_MS)
    }
  }
  const node = create(url, { agents: agentsOf(handler, agents), lanes: { main: SLOTS, task: SLOTS } })
  const reader = create(url, { org: CROWDED_ORG })
  await node.start()
  await reader.start()
  await until(() => started >= SLOTS, { timeoutMs, what: `${SLOTS} tasks in flight` })
  const sending = sendSteadily(node, others)
  const reads = await readMeanwhile(reader, await withClient(url, tasksOf), seconds)
  sending.stop()
  await until(() => others.late.length === others.begun.length, { timeoutMs: 10_000 }).catch(() => undefined)
  const missing = others.begun.length - others.late.length
  const late = [...others.late, ...Array.from({ length: missing }, () => 60_000)]
  await Promise.all([node.stop('now'), reader.stop('now')])
  return {
    ...{ started, reads, othersSent: others.begun.length, othersMissing: missing },
    ...{ othersP50: quantile(late, 0.5), othersP99: quantile(late, 0.99) },
  }
}

/** Sends messages to the other org at a steady rate, without waiting for responses. */
function sendSteadily(escapement, { begun }) {
  const timer = setInterval(() => {
    const n = begun.push(performance.now()) - 1
    const session = sessionOf({ agent: `a${n % 10}`, session: `other${n % 1_000}` })
    escapement.sessions.send(session, `${OTHER}${n}`).catch(() => undefined)
  }, EVERY_MS)
  return { stop: () => clearInterval(timer) }
}

/** Some tasks of the agent with half of the queue, spread over all of it. */
async function tasksOf(client) {
  const { rows } = await client.query(
    `select id from (select id, row_number() over (order by created_at, id) as no, count(*) over () as count
       from backlog where org_id = $1 and agent_id = 'a0') b
      where no % greatest(1, count / 50) = 0`,
    [CROWDED_ORG],
  )
  return rows.map(({ id }) => id)
}

async function readMeanwhile(escapement, tasks, seconds) {
  const calls = {
    'GET /tasks': () => escapement.tasks.list({ limit: 100 }),
    'GET /tasks?state=queued': () => escapement.tasks.list({ limit: 100, state: 'queued' }),
    'GET /tasks?agentId=a0&state=queued': () => escapement.tasks.list({ limit: 100, agentId: 'a0', state: 'queued' }),
    'GET /scheduler/stats': () => escapement.tasks.stats(),
    'GET /stats': () => escapement.stats.get(),
    'GET /tasks/:id (position)': (n) => escapement.tasks.get(tasks[n % tasks.length]),
    'GET /explain?id=': (n) => escapement.explain.ask({ id: tasks[n % tasks.length] }),
  }
  const times = Object.fromEntries(Object.keys(calls).map((name) => [name, []]))
  const end = performance.now() + seconds * 1_000
  for (let n = 0; performance.now() < end; n += 1)
    for (const [name, call] of Object.entries(calls)) {
      const began = performance.now()
      await call(n)
      times[name].push(performance.now() - began)
    }
  return Object.fromEntries(
    Object.entries(times).map(([name, all]) => [name, { p50: quantile(all, 0.5), p99: quantile(all, 0.99) }]),
  )
}
