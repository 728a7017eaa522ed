import { z } from 'zod'
import { createClient, type Client } from '../../src/client/client.ts'
import type { AnswerSpec } from '../../src/api/operation.ts'
import { OPERATIONS } from '../../src/operations/table.ts'
import { problem } from '../../src/api/problem.ts'
import { taskError } from '../../src/features/tasks/schema.ts'
import type { MessageInput } from '../../src/features/sessions/schema.ts'
import type { Surface } from '../scenarios/both/world.ts'
import { eventually } from '../scenarios/support.ts'

const PATIENCE_MS = 12_000

/** A client that holds every answer to the contract, whatever the test is about. */
export const createCheckedClient = (url: string, key: string): Client =>
  createClient({ url, key, retries: 0, fetch: checkedFetch })

/** The scenarios speak to a server as they speak to the library; only what needs a process is made up for. */
export const surfaceOf = (client: Client): Surface => ({
  ...client,
  sessions: {
    ...client.sessions,
    send: async (key, message, options) => {
      const answer = await client.sessions.send(key, messageOf(message), options)
      if ('id' in answer) throw new Error(`a run was answered to nobody who waits: ${answer.id}`)
      return answer
    },
    ask: async (key, message) => {
      const answer = await client.sessions.send(key, messageOf(message), { query: { wait: PATIENCE_MS / 1_000 } })
      if (!('id' in answer)) throw new Error(`not settled: ${JSON.stringify(answer)}`)
      return answer
    },
  },
  runs: {
    ...client.runs,
    wait: (id, { timeoutMs } = {}) =>
      eventually(async () => {
        const run = await client.runs.get(id)
        if (run.finished_at === null) throw new Error(`${id} is ${run.status}`)
        return run
      }, timeoutMs),
  },
  agents: {
    ...client.agents,
    register: () => Promise.reject(new Error('functions do not travel by HTTP')),
  },
})

const messageOf = (message: MessageInput | string): MessageInput =>
  typeof message === 'string' ? { text: message } : message

const answersOf = (answers: Readonly<Record<number, AnswerSpec>>): Readonly<Record<number, AnswerSpec>> => answers

const ROUTES = Object.entries(OPERATIONS).map(([id, { method, path, answers, ...more }]) => ({
  ...{ id, method, answers: answersOf(answers), refused: 'facade' in more ? taskError : problem },
  pattern: new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`),
}))

const checkedFetch: typeof fetch = async (input, init) => {
  const answer = await fetch(input, init)
  const { pathname } = new URL(typeof input === 'string' ? input : input instanceof URL ? input.href : input.url)
  // Fixed words come before parameters, as they do in the server.
  const route = ROUTES.filter(({ method, pattern }) => method === init?.method && pattern.test(pathname)).toSorted(
    (a, b) => b.pattern.source.length - a.pattern.source.length,
  )[0]
  if (route === undefined) throw new Error(`${init?.method ?? ''} ${pathname} is no operation`)
  const spec = answer.ok ? route.answers[answer.status] : route.refused
  if (spec === undefined) throw new Error(`${route.id} does not say that it answers ${answer.status}`)
  if (spec instanceof z.ZodType) spec.parse(await answer.clone().json())
  return answer
}
