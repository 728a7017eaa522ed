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

/** Spans through the OpenTelemetry API. The program's SDK, if any, decides what is exported. */
export interface Tracing extends EngineTracing {
  /**
   * Runs a function that submits work, in a span of its own if tracing is on, as a child of `traceparent`. The work
   * belongs to the trace it receives; without tracing, that is the one that was sent, if any.
   */
  readonly traceSubmission: <T>(
    name: string,
    header: unknown,
    task: (trace: string | null) => T | Promise<T>,
  ) => T | Promise<T>
  /** The trace of work that the embedding program submits. Null if tracing is off. */
  readonly currentTrace: () => string | null
}

const NAME = 'escapement'

/** Without an SDK the proxy has no tracer, and no spans are created. */
function tracerOf(provider: TracerProvider, version: string): Tracer | undefined {
  return provider instanceof ProxyTracerProvider
    ? provider.getDelegateTracer(NAME, version)
    : provider.getTracer(NAME, version)
}

/** A `traceparent` as the parent context of spans. */
function contextOf(traceparent: string | null, otherwise: Context): Context {
  if (traceparent === null) return otherwise
  return trace.setSpanContext(ROOT_CONTEXT, {
    ...{ traceId: traceIdOf(traceparent), spanId: spanIdOf(traceparent), isRemote: true },
    traceFlags: isSampled(traceparent) ? TraceFlags.SAMPLED : TraceFlags.NONE,
  })
}

/** The `traceparent` of a span. */
function traceparentOf(span: Span): string | null {
  const { traceId, spanId, traceFlags } = span.spanContext()
  return readTraceparent(`00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`)
}

function recordFailure(span: Span, error: unknown): void {
  if (error instanceof Error) span.recordException(error)
  span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.message : String(error) })
}

/** Runs the function in the span and ends the span. */
async function runInSpan<T>(span: Span, parent: Context, task: () => T | Promise<T>): Promise<T> {
  try {
    return await context.with(trace.setSpan(parent, span), task)
  } catch (error) {
    recordFailure(span, error)
    throw error
  } finally {
    span.end()
  }
}

export function createTracing(version: string): Tracing {
  let provider = trace.getTracerProvider()
  // The proxy stays the same when an SDK is registered, except with an SDK that brings its own copy of the API. Reading
  // the global provider is slower than reading its delegate, so it is only done when work is submitted and not for
  // every attempt.
  const currentTracer = (): Tracer | undefined => {
    provider = trace.getTracerProvider()
    return tracerOf(provider, version)
  }
  const admitted = (trigger: string): string | null => {
    const tracer = currentTracer()
    if (tracer === undefined) return null
    const span = tracer.startSpan('escapement admit', { attributes: { 'escapement.trigger': trigger } })
    span.end()
    return traceparentOf(span)
  }
  return {
    isOn: () => tracerOf(provider, version) !== undefined,
    begin: admitted,
    currentTrace: () => admitted('program'),
    traceSubmission: (name, header, task) => {
      const sent = readTraceparent(header)
      const tracer = currentTracer()
      if (tracer === undefined) return task(sent)
      const parent = contextOf(sent, context.active())
      const attributes = { 'escapement.operation': name }
      const span = tracer.startSpan('escapement admit', { kind: SpanKind.SERVER, attributes }, parent)
      return runInSpan(span, parent, () => task(traceparentOf(span)))
    },
    perform: (attempt, task) => {
      const tracer = currentTracer()
      return tracer === undefined ? task(attempt) : performIn(tracer, attempt, task)
    },
    deliver: async (about, task) => {
      const tracer = currentTracer()
      if (tracer === undefined) return task()
      const parent = contextOf(about.trace, ROOT_CONTEXT)
      const attributes = {
        ...{ 'escapement.org': about.orgId, 'escapement.run_id': about.runId },
        'escapement.delivery_id': about.deliveryId,
      }
      const span = tracer.startSpan('escapement delivery', { kind: SpanKind.PRODUCER, attributes }, parent)
      return runInSpan(span, parent, async () => {
        const outcome = await task()
        if (outcome?.ok === false) span.setStatus({ code: SpanStatusCode.ERROR })
        return outcome
      })
    },
  }
}

async function performIn(
  tracer: Tracer,
  attempt: Attempt,
  task: (traced: Attempt) => Promise<AttemptReport>,
): Promise<AttemptReport> {
  const parent = contextOf(attempt.trace, ROOT_CONTEXT)
  const span = tracer.startSpan(
    'escapement attempt',
    { kind: SpanKind.CONSUMER, attributes: attributesOf(attempt) },
    parent,
  )
  return runInSpan(span, parent, async () => {
    const report = await task({ ...attempt, trace: traceparentOf(span) })
    recordSpanOutcome(span, report)
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
    ...(attempt.sessionKey === null
      ? {}
      : { 'escapement.session_id': attempt.sessionKey, 'gen_ai.conversation.id': attempt.sessionKey }),
    // The semantic conventions of OpenTelemetry for generative AI.
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.id': attempt.agentId,
  }
}

function recordSpanOutcome(span: Span, { outcome, errorMessage, usage = {} }: AttemptReport): void {
  span.setAttribute('escapement.outcome', outcome.kind)
  const { inputTokens, outputTokens, costMicros } = usage
  if (inputTokens !== undefined) span.setAttribute('gen_ai.usage.input_tokens', inputTokens)
  if (outputTokens !== undefined) span.setAttribute('gen_ai.usage.output_tokens', outputTokens)
  if (costMicros !== undefined) span.setAttribute('escapement.cost', costMicros / 1_000_000)
  if (outcome.kind !== 'failed' && outcome.kind !== 'timed_out') return
  if ('errorCode' in outcome)
    span.setAttributes({ 'escapement.error_code': outcome.errorCode, 'error.type': outcome.errorCode })
  span.setStatus({ code: SpanStatusCode.ERROR, ...(errorMessage === undefined ? {} : { message: errorMessage }) })
}
