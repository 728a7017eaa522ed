import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createCheckedClient } from './remote.ts'

let answer = { status: 200, type: 'application/json', body: '{}' }
const server = createServer((_request, response) => {
  response.writeHead(answer.status, { 'content-type': answer.type }).end(answer.body)
})
let url = ''

beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

afterAll(() => server.close())

/** Why the client of the scenarios does not take an answer. */
async function complaint(status: number, body: unknown): Promise<string> {
  const type = status < 400 ? 'application/json' : 'application/problem+json'
  answer = { status, type, body: JSON.stringify(body) }
  const error: unknown = await createCheckedClient(url, 'esc_x')
    .schedules.list()
    .catch((reason: unknown) => reason)
  return error instanceof Error ? `${error.message} ${String(error.cause)}` : JSON.stringify(error)
}

describe('the client of the scenarios', () => {
  it('takes what the contract says', async () => {
    expect(await complaint(200, { items: [], next_cursor: null })).toBe('{"items":[],"next_cursor":null}')
  })

  it('does not take a field too few or too many, another status, or a refusal without its fields', async () => {
    expect(await complaint(200, { items: [] })).toContain('next_cursor')
    expect(await complaint(200, { items: [], next_cursor: null, total: 0 })).toContain('total')
    expect(await complaint(201, { items: [], next_cursor: null })).toContain('does not say that it answers 201')
    expect(await complaint(404, { code: 'NOT_FOUND' })).toContain('request_id')
  })
})
