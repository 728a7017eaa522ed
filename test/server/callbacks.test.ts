import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type RunDetail, callbackAnswer } from '../../src/features/runs/schema.ts'

import type { MessageReceipt } from '../../src/features/sessions/schema.ts'
import { createLiveWorld, type LiveWorld } from './live.ts'
import { pointersIn, problemIn } from './support.ts'

const tokens = new Map<string, string>()
let world: LiveWorld
beforeAll(async () => {
  world = await createLiveWorld({
    later: async ({ runId }, { defer }) => {
      const deferred = await defer()
      tokens.set(runId, deferred.token)
      return deferred
    },
  })
})
afterAll(() => world.close())

/** A run that awaits its result, and the token that settles it. */
async function awaiting(): Promise<{ readonly id: string; readonly token: string }> {
  const sent = await world.ask('POST', '/api/v1/sessions/agent:later:x/messages', {
    body: { text: 'Hello', max_concurrent: 100 },
  })
  const { run_id: id } = sent.json<MessageReceipt>()
  await vi.waitFor(async () => expect((await shown(id)).status).toBe('awaiting_callback'), {
    ...{ timeout: 10_000, interval: 10 },
  })
  return { id, token: tokens.get(id) ?? '' }
}

const shown = async (id: string): Promise<RunDetail> => (await world.ask('GET', `/api/v1/runs/${id}`)).json<RunDetail>()
const settle = (token: string, body: unknown) => world.ask('POST', `/api/v1/callbacks/${token}`, { body, as: null })

describe('a callback', () => {
  it('settles its run without a key, once', async () => {
    const { id, token } = await awaiting()
    const usage = { input_tokens: 5, output_tokens: 6, context_window: 100, cost: 0.25 }
    const result = { job_run_id: id, status: 'success', output: { answer: 42 }, summary: 'It is 42', usage }
    const response = await settle(token, result)
    expect(response.statusCode).toBe(200)
    expect(callbackAnswer.parse(response.json())).toEqual({ status: 'success', ignored: false })
    expect(await shown(id)).toMatchObject({
      ...{ status: 'success', output: { answer: 42 }, result_summary: 'It is 42', usage },
    })
    const again = await settle(token, { status: 'failed' })
    expect([again.statusCode, again.json()]).toEqual([200, { status: 'success', ignored: true }])
    expect((await shown(id)).status).toBe('success')
  })

  it('may report a failure that is not to be repeated', async () => {
    const { id, token } = await awaiting()
    const result = { status: 'failed', error_code: 'agent_error', error_message: 'No ink', retryable: false }
    expect((await settle(token, result)).json()).toEqual({ status: 'failed', ignored: false })
    expect(await shown(id)).toMatchObject({ status: 'failed', error_code: 'agent_error', error_message: 'No ink' })
  })

  it('of an attempt before the present one changes nothing', async () => {
    const { id, token } = await awaiting()
    // A failure that may be repeated: the run waits for its next attempt.
    expect((await settle(token, { status: 'failed' })).json()).toEqual({ status: 'waiting', ignored: false })
    expect((await settle(token, { status: 'success' })).json()).toEqual({ status: 'waiting', ignored: true })
    await world.ask('POST', `/api/v1/runs/${id}/cancel`)
    expect((await settle(token, { status: 'success' })).json()).toEqual({ status: 'cancelled', ignored: true })
  })

  it('with a wrong token is not found, whoever asks', async () => {
    for (const token of ['wrong', 'x'.repeat(512), '%F0%9F%99%82'])
      problemIn(await settle(token, { status: 'success' }), 'NOT_FOUND')
    expect(pointersIn(await settle('x'.repeat(513), {}))).toEqual(['/token'])
    expect(pointersIn(await settle('%00', {}))).toEqual(['/token'])
  })

  it.each([
    ['no body', undefined, ['']],
    ['a status that is none', { status: 'done' }, ['/status']],
    ['a misspelt field', { status: 'success', outptu: 1 }, ['/outptu']],
    ['usage that cannot be', { usage: { input_tokens: -1, cost: 'much' } }, ['/usage/input_tokens', '/usage/cost']],
    ['wrong types', { output: 1, error_message: 2, retryable: 'no' }, ['/error_message', '/retryable']],
  ])('with %s is refused and the run still waits', async (_, body, pointers) => {
    const { id, token } = await awaiting()
    expect(pointersIn(await settle(token, body))).toEqual(pointers)
    expect((await shown(id)).status).toBe('awaiting_callback')
  })
})
