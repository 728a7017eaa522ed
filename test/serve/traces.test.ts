import { context, SpanStatusCode, trace } from '@opentelemetry/api'
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'
import { describe, expect } from 'vitest'
import { json, startPeer } from '../platform/outbound/peer.ts'
import { chat, ended, eventually, runsWhen } from '../scenarios/support.ts'
import { scenario as libraryScenario } from '../scenarios/world.ts'
import { recordSpans } from '../support/spans.ts'
import { scenario, type Remote } from '../http-scenarios/world.ts'

const recorded = recordSpans()

let traces = 0
/** A trace that no other test has. */
const aTrace = (): { readonly id: string; readonly span: string; readonly traceparent: string } => {
  const id = (traces += 1).toString(16).padStart(32, 'a')
  return { id, span: '00f067aa0ba902b7', traceparent: `00-${id}-00f067aa0ba902b7-01` }
}

async function message(node: Remote, peer: string, traceparent: string): Promise<string> {
  const target = `/api/v1/sessions/${encodeURIComponent(chat(peer))}/messages`
  const headers = { traceparent }
  const { body } = await node.raw('POST', target, { body: { text: 'Hello', debounce_ms: 0 }, headers })
  return String(body['run_id'])
}

/** The spans of a trace once there are so many, by name. */
const spansOf = (id: string, count: number): Promise<readonly ReadableSpan[]> =>
  eventually(() => {
    const found = recorded.ofTrace(id)
    expect(found.map(({ name }) => name)).toHaveLength(count)
    return found
  })

const named = (spans: readonly ReadableSpan[], name: string): readonly ReadableSpan[] =>
  spans.filter((span) => span.name === `escapement ${name}`)

describe.concurrent('where spans are recorded', () => {
  scenario('admission, attempt and delivery are spans of one trace, and the agent goes on with it', async (world) => {
    const { id: traceId, span: caller, traceparent } = aTrace()
    const peer = await startPeer(({ url }, response) =>
      json(response, 200, url === '/work' ? { status: 'success', output: 'done' } : {}),
    )
    try {
      const allow = { allow_loopback: true, allow_hosts: [`127.0.0.1:${peer.port}`] }
      const node = await world.start({ outbound: allow })
      await node.agents.create({ id: 'worker', name: 'Worker', executor: { kind: 'http', url: `${peer.url}/work` } })
      const { body: hook } = await node.raw('POST', '/api/v1/targets', {
        body: { name: 'Hook', kind: 'webhook', url: `${peer.url}/hook` },
      })
      const made = await node.raw('POST', '/api/v1/schedules', {
        body: { agent_id: 'worker', cron: '0 0 1 1 *', payload: 'x', delivery: { target_id: hook['id'] } },
      })
      expect(made.status, JSON.stringify(made.body)).toBe(201)
      const ran = await node.raw('POST', `/api/v1/schedules/${String(made.body['id'])}/run-now`, {
        headers: { traceparent },
      })
      const runId = String(ran.body['run_id'])
      await ended(node, runId)
      const spans = await spansOf(traceId, 3)
      const [[admit], [attempt], [delivery]] = [
        named(spans, 'admit'),
        named(spans, 'attempt'),
        named(spans, 'delivery'),
      ]
      expect(admit?.parentSpanContext?.spanId).toBe(caller)
      expect(attempt?.parentSpanContext?.spanId).toBe(admit?.spanContext().spanId)
      expect(delivery?.parentSpanContext?.spanId).toBe(admit?.spanContext().spanId)
      expect(admit?.attributes).toMatchObject({ 'escapement.operation': 'schedules.runNow' })
      expect(attempt?.attributes).toMatchObject({
        ...{ 'escapement.run_id': runId, 'escapement.agent_id': 'worker', 'escapement.trigger': 'manual' },
        ...{ 'escapement.attempt': 1, 'escapement.outcome': 'succeeded', 'escapement.org': 'default' },
      })
      expect(attempt?.status.code).toBe(SpanStatusCode.UNSET)
      const sent = peer.heard.find(({ url }) => url === '/work')?.headers['traceparent']
      expect(sent).toBe(`00-${traceId}-${attempt?.spanContext().spanId ?? ''}-01`)
      expect((await node.runs.get(runId)).trace_id).toBe(traceId)
    } finally {
      await peer.close()
    }
  })

  scenario('each attempt is a span, and says how it failed', async (world) => {
    const { id: traceId, traceparent } = aTrace()
    let attempts = 0
    const node = await world.start({
      agents: {
        worker: () => {
          attempts += 1
          if (attempts === 1) throw new Error('the first time')
          // What the agent does is part of its attempt.
          trace.getTracer('agent').startSpan('thinking').end()
          return 'done'
        },
      },
    })
    await node.agents.update('worker', { retry_policy: { max_retries: 1, strategy: 'fixed', base_ms: 20 } })
    const id = await message(node, 'a', traceparent)
    await ended(node, id)
    const spans = await spansOf(traceId, 4)
    const [first, second] = named(spans, 'attempt')
    expect(first?.status).toEqual({ code: SpanStatusCode.ERROR, message: 'the first time' })
    expect(first?.attributes).toMatchObject({ 'escapement.error_code': 'agent_error', 'escapement.attempt': 1 })
    expect(second?.attributes).toMatchObject({ 'escapement.outcome': 'succeeded', 'escapement.attempt': 2 })
    const thinking = spans.find(({ name }) => name === 'thinking')
    expect(thinking?.parentSpanContext?.spanId).toBe(second?.spanContext().spanId)
  })

  scenario(
    'the attempt of a run that is cancelled ends its span, and the run keeps its trace and its output',
    async (world) => {
      const { id: traceId, traceparent } = aTrace()
      const node = await world.start({
        agents: {
          worker: (_, { signal }) =>
            new Promise((resolve) => signal.addEventListener('abort', () => resolve('as far as it came'))),
        },
      })
      const id = await message(node, 'a', traceparent)
      await eventually(async () => {
        expect((await node.runs.get(id)).status).toBe('running')
      })
      await node.runs.cancel(id)
      await ended(node, id)
      const [attempt] = named(await spansOf(traceId, 2), 'attempt')
      expect(attempt?.attributes).toMatchObject({ 'escapement.run_id': id, 'escapement.attempt': 1 })
      expect(attempt?.status.code).toBe(SpanStatusCode.UNSET)
      const run = await node.runs.get(id)
      expect(run).toMatchObject({ status: 'cancelled', output: 'as far as it came', trace_id: traceId })
      expect(run.timeline.at(-1)?.status).toBe('cancelled')
      expect(run.attempts).toMatchObject([{ number: 1, status: 'cancelled' }])
    },
  )

  scenario('what comes by itself begins a trace of its own, and what is refused is an error', async (world) => {
    const node = await world.start({ agents: { worker: () => 'done' } })
    const made = await node.schedules.create({ agent_id: 'worker', every_seconds: 1, payload: 'x', max_fires: 1 })
    // On a busy machine an earlier occurrence may have been missed, and is skipped.
    const isDone = ({ status }: { readonly status: string }): boolean => status === 'success'
    const run = (await runsWhen(node, made.id, (found) => found.some(isDone))).find(isDone)
    const traceId = (await node.runs.get(run?.id ?? '')).trace_id
    expect(traceId).toMatch(/^[\da-f]{32}$/)
    expect((await spansOf(traceId ?? '', 2)).map(({ name }) => name)).toEqual([
      'escapement admit',
      'escapement attempt',
    ])
    const { id, traceparent } = aTrace()
    const target = `/api/v1/sessions/${encodeURIComponent('agent:nobody:x')}/messages`
    expect((await node.raw('POST', target, { body: { text: 'x' }, headers: { traceparent } })).status).toBe(404)
    const [refused] = await spansOf(id, 1)
    expect(refused?.status.code).toBe(SpanStatusCode.ERROR)
  })
})

describe.concurrent('inside a program', () => {
  libraryScenario('work belongs to what is active around whoever hands it in', async (world) => {
    const node = await world.start({ agents: { worker: () => 'done' } })
    const tracer = trace.getTracer('program')
    const around = tracer.startSpan('around')
    const run = await context.with(trace.setSpan(context.active(), around), () => node.sessions.ask(chat('s'), 'turn'))
    around.end()
    const traceId = around.spanContext().traceId
    expect((await node.runs.get(run.id)).trace_id).toBe(traceId)
    const spans = await spansOf(traceId, 3)
    expect(named(spans, 'admit')[0]?.parentSpanContext?.spanId).toBe(around.spanContext().spanId)
    expect(named(spans, 'attempt')[0]?.parentSpanContext?.spanId).toBe(named(spans, 'admit')[0]?.spanContext().spanId)
  })
})
