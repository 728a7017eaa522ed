import type { LightMyRequestResponse } from 'fastify'
import { expect } from 'vitest'
import type { HttpWorld } from '../support.ts'

export interface Answer {
  readonly jsonrpc: string
  readonly id: unknown
  readonly result?: Readonly<Record<string, unknown>>
  readonly error?: {
    readonly code: number
    readonly message: string
    readonly data?: {
      readonly code?: string
      readonly did_you_mean?: string
      readonly retry_after_ms?: number
      readonly request_id?: string
      readonly errors?: readonly { readonly pointer: string; readonly message: string; readonly allowed?: string }[]
    }
  }
}

/** Sends anything to /rpc. */
export const post = (
  world: HttpWorld,
  body: unknown,
  more: { readonly as?: string | null; readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<LightMyRequestResponse> =>
  world.ask('POST', '/rpc', typeof body === 'string' ? { raw: body, ...more } : { body, ...more })

/** Calls a method and answers with what came back. */
export async function call(
  world: HttpWorld,
  method: string,
  params?: unknown,
  more: { readonly as?: string; readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<Answer> {
  const response = await post(
    world,
    { jsonrpc: '2.0', id: 1, method, ...(params === undefined ? {} : { params }) },
    more,
  )
  expect(response.statusCode, response.body).toBe(200)
  expect(response.headers['content-type']).toContain('application/json')
  const answer = response.json<Answer>()
  expect(answer).toMatchObject({ jsonrpc: '2.0', id: 1 })
  expect('result' in answer, 'either a result or an error').not.toBe('error' in answer)
  return answer
}

/** The same, when it has to go well. */
export async function result<T>(...asked: Parameters<typeof call>): Promise<T> {
  const answer = await call(...asked)
  if (answer.error !== undefined) throw new Error(`${asked[1]}: ${JSON.stringify(answer.error)}`)
  return answer.result as T
}

/** The pointers of what is wrong with the params. */
export const pointers = ({ error }: Answer): readonly string[] =>
  (error?.data?.errors ?? []).map(({ pointer }) => pointer)
