import { AsyncLocalStorage } from 'node:async_hooks'
import { context, ROOT_CONTEXT, trace, type Context, type ContextManager } from '@opentelemetry/api'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type ReadableSpan,
} from '@opentelemetry/sdk-trace-base'
import { afterAll } from 'vitest'

/** What is active follows whoever awaits. */
function createContextManager(): ContextManager {
  const storage = new AsyncLocalStorage<Context>()
  const manager: ContextManager = {
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (active, work, thisArg, ...args) => storage.run(active, () => work.apply(thisArg as never, args)),
    bind: (_active, target) => target,
    enable: () => manager,
    disable: () => manager,
  }
  return manager
}

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
