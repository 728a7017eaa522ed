// The load generators. Each runs in a separate process, so that it affects the server only by using CPU.
import { Agent, request } from 'node:http'
import autocannon from 'autocannon'
import { createEscapement } from '../../dist/index.js'
import { quantile } from '../engine/statistics.mjs'
import { cpuSecondsOf } from '../engine/server.mjs'
import { cpuSeconds, until } from '../engine/world.mjs'
import { requestsOf } from './requests.mjs'
import { postmasterOf } from './served.mjs'

/**
 * Sends a fixed number of requests over several connections, one after another on each. A count and not a time, because a
 * server that received fewer requests has compiled less of its code, which would change all figures.
 */
export async function hammer({ url, key, kind, connections, count, turn = 0, options = {} }) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const times = []
  const statuses = {}
  let client = 0
  const began = performance.now()
  await new Promise((resolve, reject) => {
    const instance = autocannon(
      {
        ...{ url, connections, amount: count, headers, timeout: 60 },
        // Every connection has its own requests, created in advance.
        setupClient: (one) => {
          one.setRequests(requestsOf(kind, { client, clients: connections, turn, ...options }))
          client += 1
        },
      },
      (error, result) => (error === null || error === undefined ? resolve(result) : reject(error)),
    )
    instance.on('response', (...[, status, , ms]) => {
      times.push(ms)
      statuses[status] = (statuses[status] ?? 0) + 1
    })
    instance.on('reqError', reject)
  })
  return figuresOf(times, { seconds: (performance.now() - began) / 1_000, statuses })
}

/**
 * Submits tasks and waits for the end of each in the same request, from several clients with one task at a time. Returns
 * the time from the first byte of the request to the response with the result.
 */
export async function cycles({ url, key, clients, count }) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const agent = new Agent({ keepAlive: true, maxSockets: clients })
  const times = []
  const states = {}
  const cycle = async (client, i) => {
    const body = JSON.stringify({ agentId: `agent-${(client * 7 + i) % 100}`, action: 'click', tabId: 'tab' })
    const asked = performance.now()
    const { state } = await ask(agent, { url: `${url}/tasks?wait=60s`, method: 'POST', headers, body })
    states[state] = (states[state] ?? 0) + 1
    times.push(performance.now() - asked)
  }
  const began = performance.now()
  await Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      for (let i = 0; i < count / clients; i += 1) await cycle(client, i)
    }),
  )
  const figures = figuresOf(times, { seconds: (performance.now() - began) / 1_000, statuses: {} })
  agent.destroy()
  return { ...figures, states }
}

function ask(agent, { url, method, headers, body }) {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, headers, agent }, (answer) => {
      let text = ''
      answer.setEncoding('utf8')
      answer.on('data', (more) => {
        text += more
      })
      answer.on('end', () => {
        if (answer.statusCode >= 300) reject(new Error(`${method} ${url}: ${answer.statusCode} ${text}`))
        else resolve(JSON.parse(text))
      })
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

/** The same messages or schedules through the library in this process, with several concurrent callers. */
export async function library({ data, kind, connections, count, warmUp }) {
  const escapement = createEscapement({ database: { data }, log: () => undefined })
  await escapement.start()
  const postmaster = postmasterOf(data)
  const cpu = () => ({ node: cpuSeconds(), postgres: cpuSecondsOf(postmaster) })
  await callAll(escapement, { kind, connections, count: warmUp, turn: 0 })
  const before = cpu()
  const figures = await callAll(escapement, { kind, connections, count, turn: 1 })
  const after = cpu()
  await escapement.stop()
  return { ...figures, ...cpuPer(figures.count, before, after) }
}

const CALLS = {
  messages: (escapement, { session, body }) => escapement.sessions.send(session, body),
  schedules: (escapement, { body }) => escapement.schedules.create(body),
}

async function callAll(escapement, { kind, connections, count, turn }) {
  const times = []
  const began = performance.now()
  const caller = async (client) => {
    const requests = requestsOf(kind, { client, clients: connections, turn })
    for (let i = 0; i < count / connections; i += 1) {
      const asked = performance.now()
      await CALLS[kind](escapement, requests[i % requests.length].plain)
      times.push(performance.now() - asked)
    }
  }
  await Promise.all(Array.from({ length: connections }, (_, client) => caller(client)))
  const figures = figuresOf(times, { seconds: (performance.now() - began) / 1_000, statuses: {} })
  const pending = { status: ['queued', 'waiting', 'running'], limit: 1 }
  await until(async () => (await escapement.runs.list(pending)).items.length === 0, { what: 'an empty queue' })
  return figures
}

/** CPU microseconds per request. */
export const cpuPer = (count, before, after) => ({
  nodeUs: before.node === null ? null : ((after.node - before.node) / count) * 1e6,
  postgresUs: before.postgres === null ? null : ((after.postgres - before.postgres) / count) * 1e6,
})

const figuresOf = (times, { seconds, statuses }) => ({
  count: times.length,
  perSecond: times.length / seconds,
  p50: quantile(times, 0.5),
  p99: quantile(times, 0.99),
  statuses,
})
