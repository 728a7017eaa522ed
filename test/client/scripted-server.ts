import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import type { AddressInfo } from 'node:net'

/** A request as it arrived. */
export interface Arrived {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

export type Answering = (response: ServerResponse, request: Arrived) => void

/** A server that answers as a test says, one answer after the other; the last one goes on. */
export interface ScriptedServer {
  readonly url: string
  readonly arrived: readonly Arrived[]
  readonly end: () => Promise<void>
}

export async function createScriptedServer(...answers: readonly Answering[]): Promise<ScriptedServer> {
  const arrived: Arrived[] = []
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const { method = '', url = '', headers } = request
      const answer = answers[Math.min(arrived.length, answers.length - 1)]
      const one = { method, url, headers, body }
      arrived.push(one)
      answer?.(response, one)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arrived,
    end: async () => {
      if (!server.listening) return
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Answers with JSON. */
export const json =
  (body: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Answering =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', 'x-request-id': 'req_1', ...headers })
    response.end(status === 204 ? undefined : JSON.stringify(body))
  }

/** Refuses with a problem. */
export const problem = (
  body: Readonly<Record<string, unknown>>,
  headers: Readonly<Record<string, string>> = {},
): Answering =>
  json(
    {
      type: `/docs/errors#${String(body['code'])}`,
      title: 'No',
      detail: 'It is refused',
      request_id: 'req_9',
      ...body,
    },
    Number(body['status']),
    { ...headers, 'content-type': 'application/problem+json; charset=utf-8' },
  )

/** Cuts the connection instead of answering. */
export const cut: Answering = (response) => {
  response.destroy()
}

/** Never answers. */
export const silence: Answering = () => undefined
