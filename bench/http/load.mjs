// The side that asks. Each of these runs in a process of its own, so that asking takes nothing from answering but its
// share of the machine.
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import autocannon from 'autocannon'
import { createEscapement } from '../../dist/index.js'
import { quantile } from '../engine/statistics.mjs'
import { cpuSecondsOf } from '../engine/server.mjs'
import { cpuSeconds, until } from '../engine/world.mjs'
import { requestsOf } from './requests.mjs'
import { postmasterOf } from './served.mjs'

/**
 * Sends so many requests of a kind over so many connections, one after another on each. A count and not a time: a server
 * that was asked less often has compiled less of itself, and every figure would be another one.
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
        // Every connection has requests of its own, made beforehand.
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

const POLL_MS = 1

/**
 * Hands in tasks and asks for each until it has ended, from so many clients that each have one at a time. Answers with how
 * long a task took from the first byte to the answer that says how it ended.
 */
export async function cycles({ url, key, clients, count }) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const agent = new Agent({ keepAlive: true, maxSockets: clients })
  const times = []
  const states = {}
  let polls = 0
  const cycle = async (client, i) => {
    const body = JSON.stringify({ agentId: `agent-${(client * 7 + i) % 100}`, action: 'click', tabId: 'tab' })
    const asked = performance.now()
    const { taskId } = await ask(agent, { url: `${url}/tasks`, method: 'POST', headers, body })
    for (;;) {
      await sleep(POLL_MS)
      const { state } = await ask(agent, { url: `${url}/tasks/${taskId}`, method: 'GET', headers })
      polls += 1
      if (state === 'queued' || state === 'assigned' || state === 'running') continue
      states[state] = (states[state] ?? 0) + 1
      break
    }
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
  return { ...figures, states, pollsEach: polls / figures.count }
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

/** The same messages or schedules through the library, in this process; so many callers at a time. */
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

/** Processor microseconds for each of so many requests. */
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
