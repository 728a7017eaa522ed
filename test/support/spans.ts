import { context, trace } from '@opentelemetry/api'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type ReadableSpan,
} from '@opentelemetry/sdk-trace-base'
import { afterAll } from 'vitest'
import { createContextManager } from '../../src/server/trace-export.ts'

/** Records spans of the whole process until the file of the test ends, as a program with an SDK does. */
export function recordSpans(): {
  readonly spans: () => readonly ReadableSpan[]
  readonly ofTrace: (traceId: string) => readonly ReadableSpan[]
} {
  const exporter = new InMemorySpanExporter()
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }))
  context.setGlobalContextManager(createContextManager())
  afterAll(() => {
    trace.disable()
    context.disable()
  })
  const spans = (): readonly ReadableSpan[] => exporter.getFinishedSpans()
  return { spans, ofTrace: (id) => spans().filter((span) => span.spanContext().traceId === id) }
}
