// Messages of several orgs at the same time on an idle node: the time from the request to the call of the agent. Runs in a
// separate process, which is both client and agent; the node is `escapement serve`.
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { keyOfOrg } from '../seeding.mjs'
import { until } from '../world.mjs'

/** Longer than the node's polling interval, so that the end of a run doesn't start a waiting one. */
const HANDLED_MS = 1_300
/** A start after the first limit counts as late, after the second as never started. */
export const LATE_MS = 100
const TIMEOUT_MS = 10_000

/** Returns the milliseconds of every start, and the number of runs that never started. */
export async function atOnce({ url, orgs, rounds }) {
  const agent = await startAgent()
  const keys = Array.from({ length: orgs }, (_, i) => keyOfOrg(i + 1))
  await Promise.all(keys.map((key) => post(`${url}/api/v1/agents`, key, agentAt(agent.url))))
  const times = []
  let missing = 0
  // The first round opens connections and loads the orgs, so it is not counted.
  for (let round = 0; round <= rounds; round += 1) {
    const texts = keys.map((_, i) => `round ${round} org ${i}`)
    const sent = performance.now()
    const to = `${url}/api/v1/sessions/agent:x:bench:dm:s${round}/messages`
    await Promise.all(keys.map((key, i) => post(to, key, { text: texts[i], debounce_ms: 0 })))
    await until(() => texts.every((text) => agent.starts.has(text)), { timeoutMs: TIMEOUT_MS }).catch(() => undefined)
    const begun = texts.map((text) => agent.starts.get(text)).filter((at) => at !== undefined)
    if (round > 0) {
      times.push(...begun.map((at) => at - sent))
      missing += texts.length - begun.length
    }
    await sleep(HANDLED_MS + 200 + Math.random() * 400)
  }
  agent.close()
  return { times, missing }
}

/** An agent that records its calls and takes a while to respond. */
async function startAgent() {
  const starts = new Map()
  const server = createServer((request, response) => {
    const at = performance.now()
    let body = ''
    request.on('data', (piece) => {
      body += piece
    })
    request.on('end', () => {
      const text = /round \d+ org \d+/.exec(body)?.[0]
      if (text !== undefined && !starts.has(text)) starts.set(text, at)
      setTimeout(() => {
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end('{"ok":true}')
      }, HANDLED_MS)
    })
  })
  await new Promise((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  return { starts, url: `http://127.0.0.1:${server.address().port}`, close: () => server.close() }
}

const agentAt = (url) => ({ id: 'x', name: 'x', executor: { kind: 'http', url } })

async function post(url, key, body) {
  const answer = await globalThis.fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!answer.ok) throw new Error(`POST ${url}: ${answer.status} ${await answer.text()}`)
}
