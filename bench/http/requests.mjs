// The requests, which are the same over HTTP and through the library.
const SESSIONS = 10_000
const SCHEDULES_PER_CLIENT = 500

/**
 * Requests of one of several clients, to be sent repeatedly: `path`, `method` and `body` for HTTP, `plain` for the library.
 * Clients share no requests.
 */
export const requestsOf = (kind, options) => KINDS[kind](options)

const KINDS = { messages, schedules, tasks, batches, runs }

function messages({ client, clients, agent = 'echo' }) {
  const own = Math.floor(SESSIONS / clients)
  return Array.from({ length: own }, (_, i) => {
    const session = `agent:${agent}:bench:dm:s${client * own + i}`
    const body = { text: 'say what changed since yesterday' }
    return {
      ...{ method: 'POST', path: `/api/v1/sessions/${encodeURIComponent(session)}/messages` },
      ...{ body: JSON.stringify(body), plain: { session, body } },
    }
  })
}

/** First occurrence an hour away, so that none fires while others are created. */
function schedules({ client, turn }) {
  const anchor = Date.now() + 3_600_000
  return Array.from({ length: SCHEDULES_PER_CLIENT }, (_, i) => {
    const body = {
      ...{ name: `bench ${turn} ${client} ${i}`, agent_id: 'echo', every_seconds: 86_400 },
      ...{ anchor, payload: 'say what changed since yesterday' },
    }
    return { method: 'POST', path: '/api/v1/schedules', body: JSON.stringify(body), plain: { body } }
  })
}

/** Tasks of a hundred agents, or of one registered agent that performs them at once. */
function tasks({ client, agent, tabId = 'tab' }) {
  return Array.from({ length: 500 }, (_, i) => {
    const body = { agentId: agent ?? `agent-${(client * 7 + i) % 100}`, action: 'click', tabId, ref: `e${i}` }
    return { method: 'POST', path: '/tasks', body: JSON.stringify(body) }
  })
}

function batches({ agent, size }) {
  const task = { action: 'click', tabId: 'tab', params: { text: 'say what changed since yesterday' } }
  const body = JSON.stringify({ agentId: agent, tasks: Array.from({ length: size }, () => task) })
  return [{ method: 'POST', path: '/tasks/batch', body }]
}

function runs({ query }) {
  return [{ method: 'GET', path: `/api/v1/runs${query}` }]
}
