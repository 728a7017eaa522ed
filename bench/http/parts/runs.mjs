// The first page of a large table of runs, without and with each filter.
import { randomBytes } from 'node:crypto'
import { round } from '../../engine/statistics.mjs'
import { settle, withClient } from '../../engine/seeding.mjs'
import { startServer } from '../../engine/server.mjs'
import { seedRuns } from '../seeding.mjs'
import { withServed } from '../served.mjs'

export const title = 'GET /api/v1/runs, first page'

/** Concurrent clients; few clients read lists at the same time. */
const CONNECTIONS = 4

export async function measure(bench) {
  const server = await startServer()
  try {
    return await server.withDatabase('runs', async (url) => {
      const serve = { outside: { url, postmaster: server.pid, key: `esc_${randomBytes(24).toString('base64url')}` } }
      // Create rows with the library, to multiply them.
      await withServed(serve, makeTemplates)
      const seeded = await withClient(url, async (client) => {
        const about = await seedRuns(client, bench)
        await settle(client)
        return about
      })
      return withServed(serve, (served) => askAll(bench, served, seeded))
    })
  } finally {
    await server.stop()
  }
}

async function makeTemplates({ ask }) {
  await ask('POST', '/api/v1/agents', { id: 'other', name: 'other', executor: { kind: 'echo' } })
  await ask('POST', `/api/v1/sessions/${encodeURIComponent('agent:echo:bench:dm:ended')}/messages?wait=60`, {
    text: 'say what changed since yesterday',
  })
  const schedule = await ask('POST', '/api/v1/schedules', {
    ...{ name: 'template', agent_id: 'echo', every_seconds: 86_400, anchor: Date.now() + 3_600_000, payload: 'go' },
  })
  await ask('POST', `/api/v1/schedules/${schedule.id}/run-now`, {})
}

async function askAll(bench, served, seeded) {
  const { url, key, ask } = served
  const facts = {}
  const rows = []
  for (const [filter, query] of Object.entries(queriesOf(seeded))) {
    const { items } = await ask('GET', `/api/v1/runs${query}`)
    const options = { url, key, kind: 'runs', connections: CONNECTIONS, options: { query } }
    await bench.load('hammer', { ...options, count: 200 })
    const before = served.cpu()
    const figures = await bench.load('hammer', { ...options, count: bench.quick ? 500 : 3_000 })
    const after = served.cpu()
    const perMs = (name) => round(((after[name] - before[name]) / figures.count) * 1_000, 2)
    facts[filter] = {
      ...{ count: figures.count, found: items.length, p50: round(figures.p50, 1), p99: round(figures.p99, 1) },
      ...{ nodeMs: perMs('node'), postgresMs: perMs('postgres') },
    }
    const { found, p50, p99, nodeMs, postgresMs } = facts[filter]
    rows.push({ filter, found, 'p50 ms': p50, 'p99 ms': p99, 'node ms': nodeMs, 'PostgreSQL ms': postgresMs })
  }
  return { runs: bench.runs, connections: CONNECTIONS, facts, rows }
}

const queriesOf = ({ scheduleId, trigger, session, middle }) => ({
  'no filter': '',
  'limit 200': '?limit=200',
  schedule: `?schedule_id=${scheduleId}`,
  agent: '?agent_id=echo',
  'agent with few': '?agent_id=other',
  session: `?session=${encodeURIComponent(session)}`,
  'status success': '?status=success',
  'status failed, few': '?status=failed',
  'status queued, none': '?status=queued',
  'trigger message': '?trigger=message',
  [`trigger ${trigger}`]: `?trigger=${trigger}`,
  'trigger heartbeat, none': '?trigger=heartbeat',
  from: `?from=${middle}`,
  to: `?to=${middle}`,
  'agent and status': '?agent_id=echo&status=failed',
  'session and status': `?session=${encodeURIComponent(session)}&status=success`,
})
