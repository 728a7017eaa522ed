import {
  context,
  ProxyTracerProvider,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Attributes,
  type Context,
  type Span,
  type Tracer,
  type TracerProvider,
} from '@opentelemetry/api'
import { isSampled, readTraceparent, spanIdOf, traceIdOf } from '../domain/trace-context.ts'
import type { EngineTracing } from '../engine/tracing-port.ts'
import type { Attempt, AttemptReport } from '../executors/executor.ts'

/** Spans through the API of OpenTelemetry. Which of them go where, the SDK of the program decides, if it has one. */
export interface Tracing extends EngineTracing {
  /**
   * Does something that hands in work: in a span of its own if anybody listens, under what `traceparent` said. The work
   * belongs to the trace it is told. Nobody listens: to the one that was sent along, if any.
   */
  readonly admit: <T>(name: string, given: unknown, work: (trace: string | null) => T | Promise<T>) => T | Promise<T>
  /** The trace of work that is handed in by the program around us. Null: nobody listens. */
  readonly here: () => string | null
}

const NAME = 'escapement'

/** Without an SDK there is no tracer behind the proxy, and nothing is made that nobody would see. */
function tracerOf(provider: TracerProvider, version: string): Tracer | undefined {
  return provider instanceof ProxyTracerProvider
    ? provider.getDelegateTracer(NAME, version)
    : provider.getTracer(NAME, version)
}

/** What a `traceparent` says, as the parent of spans. */
function contextOf(traceparent: string | null, otherwise: Context): Context {
  if (traceparent === null) return otherwise
  return trace.setSpanContext(ROOT_CONTEXT, {
    ...{ traceId: traceIdOf(traceparent), spanId: spanIdOf(traceparent), isRemote: true },
    traceFlags: isSampled(traceparent) ? TraceFlags.SAMPLED : TraceFlags.NONE,
  })
}

/** A span as others are told of it. */
function traceparentOf(span: Span): string | null {
  const { traceId, spanId, traceFlags } = span.spanContext()
  return readTraceparent(`00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`)
}

function fail(span: Span, error: unknown): void {
  if (error instanceof Error) span.recordException(error)
  span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.message : String(error) })
}

/** Does the work as part of the span, and ends the span with it. */
async function within<T>(span: Span, parent: Context, work: () => T | Promise<T>): Promise<T> {
  try {
    return await context.with(trace.setSpan(parent, span), work)
  } catch (error) {
    fail(span, error)
    throw error
  } finally {
    span.end()
  }
}

export function createTracing(version: string): Tracing {
  let provider = trace.getTracerProvider()
  // The proxy stays the same when an SDK comes, except one that has brought its own copy of the API. Asking for it costs
  // more than a look behind it, so that is done where work comes in and not for every attempt.
  const look = (): Tracer | undefined => {
    provider = trace.getTracerProvider()
    return tracerOf(provider, version)
  }
  const admitted = (trigger: string): string | null => {
    const tracer = look()
    if (tracer === undefined) return null
    const span = tracer.startSpan('escapement admit', { attributes: { 'escapement.trigger': trigger } })
    span.end()
    return traceparentOf(span)
  }
  return {
    isOn: () => tracerOf(provider, version) !== undefined,
    begin: admitted,
    here: () => admitted('program'),
    admit: (name, given, work) => {
      const sent = readTraceparent(given)
      const tracer = look()
      if (tracer === undefined) return work(sent)
      const parent = contextOf(sent, context.active())
      const attributes = { 'escapement.operation': name }
      const span = tracer.startSpan('escapement admit', { kind: SpanKind.SERVER, attributes }, parent)
      return within(span, parent, () => work(traceparentOf(span)))
    },
    perform: (attempt, work) => {
      const tracer = look()
      return tracer === undefined ? work(attempt) : performIn(tracer, attempt, work)
    },
    deliver: async (about, work) => {
      const tracer = look()
      if (tracer === undefined) return work()
      const parent = contextOf(about.trace, ROOT_CONTEXT)
      const attributes = {
        ...{ 'escapement.org': about.orgId, 'escapement.run_id': about.runId },
        'escapement.delivery_id': about.deliveryId,
      }
      const span = tracer.startSpan('escapement delivery', { kind: SpanKind.PRODUCER, attributes }, parent)
      return within(span, parent, async () => {
        const outcome = await work()
        if (outcome?.ok === false) span.setStatus({ code: SpanStatusCode.ERROR })
        return outcome
      })
    },
  }
}

async function performIn(
  tracer: Tracer,
  attempt: Attempt,
  work: (traced: Attempt) => Promise<AttemptReport>,
): Promise<AttemptReport> {
  const parent = contextOf(attempt.trace, ROOT_CONTEXT)
  const span = tracer.startSpan(
    'escapement attempt',
    { kind: SpanKind.CONSUMER, attributes: attributesOf(attempt) },
    parent,
  )
  return within(span, parent, async () => {
    const report = await work({ ...attempt, trace: traceparentOf(span) })
    close(span, report)
    return report
  })
}

function attributesOf(attempt: Attempt): Attributes {
  return {
    'escapement.org': attempt.orgId,
    'escapement.run_id': attempt.runId,
    'escapement.attempt_id': attempt.attemptId,
    'escapement.attempt': attempt.attempt,
    'escapement.agent_id': attempt.agentId,
    'escapement.trigger': attempt.trigger,
    ...(attempt.scheduleId === null ? {} : { 'escapement.schedule_id': attempt.scheduleId }),
    ...(attempt.sessionKey === null ? {} : { 'escapement.session_id': attempt.sessionKey }),
  }
}

function close(span: Span, { outcome, errorMessage }: AttemptReport): void {
  span.setAttribute('escapement.outcome', outcome.kind)
  if (outcome.kind !== 'failed' && outcome.kind !== 'timed_out') return
  if ('errorCode' in outcome) span.setAttribute('escapement.error_code', outcome.errorCode)
  span.setStatus({ code: SpanStatusCode.ERROR, ...(errorMessage === undefined ? {} : { message: errorMessage }) })
}
