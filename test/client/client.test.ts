import { afterEach, describe, expect, expectTypeOf, it } from 'vitest'
import { createClient, type Client } from '../../src/client/client.ts'
import { EscapementError } from '../../src/client/errors.ts'
import type { Page } from '../../src/api/page.ts'
import type { ScheduleView } from '../../src/features/schedules/schema.ts'
import { OPERATIONS } from '../../src/operations/table.ts'
import {
  createScriptedServer,
  cut,
  json,
  problem,
  silence,
  type Answering,
  type ScriptedServer,
} from './scripted-server.ts'

let server: ScriptedServer

afterEach(() => server.end())

async function clientOf(...answers: readonly Answering[]): Promise<Client> {
  server = await createScriptedServer(...answers)
  return createClient({ url: `${server.url}/`, key: 'esc_key' })
}

const failureOf = async (call: Promise<unknown>): Promise<EscapementError> => {
  const error: unknown = await call.then(
    () => null,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(EscapementError)
  return error as EscapementError
}

describe('the client', () => {
  it('has a function for every operation that answers with JSON, and no other', async () => {
    const client = (await clientOf(json({}))) as unknown as Readonly<Record<string, Readonly<Record<string, unknown>>>>
    const isStream = (id: string): boolean =>
      Object.values(OPERATIONS[id as keyof typeof OPERATIONS].answers).some(
        (answer: object | null) => answer !== null && 'contentType' in answer,
      )
    const names = Object.entries(client)
      .filter(([group]) => group !== 'events')
      .flatMap(([group, calls]) => Object.keys(calls).map((name) => `${group}.${name}`))
    expect(names.toSorted()).toEqual(
      Object.keys(OPERATIONS)
        .filter((id) => !isStream(id))
        .toSorted(),
    )
  })

  it('puts path, query, body, key and version where they belong', async () => {
    const client = await clientOf(json({ ok: true }))
    await client.schedules.list({ q: 'a b&c', limit: 5, cursor: undefined })
    await client.schedules.update('sch_1/ü', { every_seconds: 900 }, { ifMatch: 7 })
    await client.schedules.explain('sch_1', { at: '2026-11-15T12:00:00Z' })
    await client.runs.get('run_1', { query: { wait: 5 } })
    await client.tasks.get('tsk_1', { timeoutMs: 1_000 })
    const [list, update, explain, run, task] = server.arrived
    expect([run?.url, task?.url]).toEqual(['/api/v1/runs/run_1?wait=5', '/tasks/tsk_1'])
    expect(list).toMatchObject({ method: 'GET', url: '/api/v1/schedules?q=a+b%26c&limit=5', body: '' })
    expect(list?.headers).toMatchObject({ authorization: 'Bearer esc_key', accept: 'application/json' })
    expect(update).toMatchObject({
      method: 'PATCH',
      url: '/api/v1/schedules/sch_1%2F%C3%BC',
      body: '{"every_seconds":900}',
    })
    expect(update?.headers).toMatchObject({ 'if-match': '"7"', 'content-type': 'application/json' })
    expect(update?.headers['idempotency-key']).toBeUndefined()
    expect(explain?.url).toBe('/api/v1/schedules/sch_1/explain?at=2026-11-15T12%3A00%3A00Z')
  })

  it('answers with the body, and with nothing where there is none', async () => {
    const client = await clientOf(json({ status: 'ok' }), json(null, 204), json({ ready: false }, 503))
    expect(await client.probes.health()).toEqual({ status: 'ok' })
    await expect(client.schedules.delete('sch_1')).resolves.toBeUndefined()
    // 503 is an answer of this one, not a refusal.
    expect(await client.probes.ready()).toEqual({ ready: false })
  })

  it('says which parameter is missing before anything is sent', async () => {
    const client = await clientOf(json({}))
    await expect(client.schedules.get('')).rejects.toThrow('/api/v1/schedules/:id requires id')
    expect(server.arrived).toEqual([])
  })
})

describe('the types of a call', () => {
  it('are those of its operation', async () => {
    const { schedules } = await clientOf(json({}))
    expectTypeOf(schedules.get).parameter(0).toEqualTypeOf<string>()
    expectTypeOf(schedules.get).returns.resolves.toEqualTypeOf<ScheduleView>()
    expectTypeOf(schedules.list).returns.resolves.toEqualTypeOf<Page<ScheduleView>>()
    expectTypeOf(schedules.explain).parameter(1).toEqualTypeOf<{ readonly at: string | number }>()
    expectTypeOf(schedules.delete).returns.resolves.toEqualTypeOf<undefined>()
    // @ts-expect-error there is no such field
    void schedules.create({ every: 5 }).catch(() => undefined)
    // @ts-expect-error a change needs the id of what it changes
    void schedules.update({ name: 'x' }, {}).catch(() => undefined)
  })
})

describe('a refusal', () => {
  it('becomes an error with everything that was said', async () => {
    const errors = [{ pointer: '/cron', message: 'is wrong', allowed: '5 fields' }]
    const facts = { status: 429, code: 'RATE_LIMITED', detail: 'Slower', errors, run_id: 'run_1', details: { a: 1 } }
    const client = await clientOf(problem(facts, { 'retry-after': '3' }))
    const error = await failureOf(client.schedules.create({ cron: 'x' }, { idempotencyKey: 'mine' }))
    expect(error).toMatchObject({ name: 'EscapementError', message: 'Slower', status: 429, code: 'RATE_LIMITED' })
    expect(error).toMatchObject({ requestId: 'req_9', errors, retryAfterMs: 3_000, runId: 'run_1', details: { a: 1 } })
    expect(error.idempotencyKey).toBe('mine')
    expect(server.arrived).toHaveLength(1)
  })

  it('by somebody who is not Escapement is told apart', async () => {
    const client = await clientOf((response) => response.writeHead(502).end('<html>'))
    expect(await failureOf(client.schedules.list())).toMatchObject({ status: 502, code: 'BAD_ANSWER' })
  })

  it('of the tasks façade becomes the same error, in our codes', async () => {
    const refused = (status: number, body: object): Answering => json(body, status, { 'retry-after': '1' })
    const errors = [{ pointer: '/action', message: 'is missing' }]
    const client = await clientOf(
      refused(429, { error: 'Full', code: 'queue_full', retryable: true, details: { taskId: 'tsk_1', queued: 3 } }),
      refused(400, { error: 'No', code: 'error', details: { errors } }),
      refused(413, { error: 'Large', code: 'error' }),
      refused(401, { error: 'Who?', code: 'missing_token' }),
      refused(400, { error: 'Many', code: 'batch_too_large' }),
      refused(409, { error: 'Over', code: 'conflict' }),
      refused(502, { message: 'of a proxy' }),
      refused(400, { error: 'elsewhere', code: 'error' }),
    )
    const task = { agentId: 'a', action: 'x' }
    const full = await failureOf(client.tasks.submit(task))
    expect(full).toMatchObject({
      status: 429,
      code: 'QUEUE_FULL',
      message: 'Full',
      runId: 'tsk_1',
      retryAfterMs: 1_000,
    })
    expect(full.details).toEqual({ taskId: 'tsk_1', queued: 3 })
    expect(await failureOf(client.tasks.submit(task))).toMatchObject({ code: 'VALIDATION', errors })
    expect((await failureOf(client.tasks.submit(task))).code).toBe('BODY_TOO_LARGE')
    expect((await failureOf(client.tasks.list())).code).toBe('UNAUTHENTICATED')
    expect((await failureOf(client.tasks.batch({ agentId: 'a', tasks: [] }))).code).toBe('BATCH_TOO_LARGE')
    expect((await failureOf(client.tasks.cancel('tsk_1'))).code).toBe('CONFLICT')
    expect((await failureOf(client.tasks.stats())).code).toBe('BAD_ANSWER')
    expect((await failureOf(client.schedules.get('sch_1'))).code).toBe('BAD_ANSWER')
  })

  it('is also an answer that is not JSON', async () => {
    const client = await clientOf((response) => response.writeHead(200).end('<html>'))
    expect(await failureOf(client.schedules.list())).toMatchObject({ status: 200, code: 'BAD_ANSWER' })
  })
})

describe('a network that fails', () => {
  it('makes a read be repeated', async () => {
    const client = await clientOf(cut, cut, json({ items: [], next_cursor: null }))
    expect(await client.schedules.list()).toEqual({ items: [], next_cursor: null })
    expect(server.arrived).toHaveLength(3)
  })

  it('makes a creation be repeated under its one key', async () => {
    const client = await clientOf(cut, json({ id: 'sch_1' }, 201))
    await client.schedules.create({ every_seconds: 60 })
    const keys = server.arrived.map(({ headers }) => headers['idempotency-key'])
    expect(keys).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), keys[0]])
    await client.schedules.create({ every_seconds: 60 })
    expect(server.arrived[2]?.headers['idempotency-key']).not.toBe(keys[0])
  })

  it('does not make a change be repeated: it may have been made', async () => {
    const client = await clientOf(cut, json({}))
    const error = await failureOf(client.schedules.update('sch_1', { name: 'x' }))
    expect(error).toMatchObject({ code: 'UNREACHABLE', status: null })
    expect(error.message).toBe(`${server.url} cannot be reached: the connection was closed`)
    expect(server.arrived).toHaveLength(1)
  })

  it('is given up after the last repetition, with the key to go on with', async () => {
    const client = await clientOf(cut)
    const error = await failureOf(client.schedules.create({ every_seconds: 60 }))
    expect(server.arrived).toHaveLength(3)
    expect(error.idempotencyKey).toBe(server.arrived[0]?.headers['idempotency-key'])
  })

  it('is told when nothing listens', async () => {
    const client = await clientOf(json({}))
    await server.end()
    expect((await failureOf(client.schedules.delete('sch_1'))).message).toBe(
      `${server.url} cannot be reached: connection refused, no server is listening there`,
    )
  })

  it('includes a server that says nothing', async () => {
    const client = await clientOf(silence)
    const error = await failureOf(client.schedules.update('sch_1', {}, { timeoutMs: 50 }))
    expect(error.message).toContain('no response within 50 ms')
  })
})

describe('a signal', () => {
  it('ends a call with its reason, also between two tries', async () => {
    const client = await clientOf(cut)
    const controller = new AbortController()
    const reason = new Error('enough')
    const call = client.schedules.list({}, { signal: controller.signal })
    await expect.poll(() => server.arrived.length).toBeGreaterThan(0)
    controller.abort(reason)
    await expect(call).rejects.toBe(reason)
    await expect(client.schedules.list({}, { signal: controller.signal })).rejects.toBe(reason)
  })
})

describe('a redirect', () => {
  it('is not followed: the key would go with it', async () => {
    const client = await clientOf((response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end())
    expect(await failureOf(client.schedules.delete('sch_1'))).toMatchObject({ code: 'UNREACHABLE' })
    expect(server.arrived).toHaveLength(1)
  })
})

describe('the address', () => {
  const creating = (url: unknown) => (): unknown => createClient({ url: url as string, key: 'esc_key' })

  it.each([['127.0.0.1:7420'], ['localhost:7420'], ['http://'], ['ftp://here'], [7420]])(
    '%j is refused before anything is asked',
    (url) => {
      expect(creating(url)).toThrow(
        `url ${JSON.stringify(url)} is not the URL of a server; use an http or https URL, such as http://127.0.0.1:7420`,
      )
    },
  )

  it('is needed where no page has one', () => {
    expect(creating(undefined)).toThrow('url is missing: the URL of the server, such as http://127.0.0.1:7420')
    expect(creating('')).toThrow('url is missing')
  })
})
