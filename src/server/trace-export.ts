import { AsyncLocalStorage } from 'node:async_hooks'
import { context, type Context, type ContextManager, ROOT_CONTEXT, trace } from '@opentelemetry/api'
import { loggingErrorHandler, setGlobalErrorHandler } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base'

/** Loaded only where an endpoint is configured: the packages take a third of a second to load. */

export interface TraceExportOptions {
  /** The OTLP/HTTP endpoint without `/v1/traces`. */
  readonly endpoint: string
  readonly headers: Readonly<Record<string, string>>
  /** The share of traces that begin here and are recorded. */
  readonly sampleRatio: number
  readonly version: string
  readonly nodeId: string
  /** Called when spans could not be exported, at most once a minute. */
  readonly failed: (message: string) => void
}

const EXPORT_TIMEOUT_MS = 5_000
const EXPORT_EVERY_MS = 2_000
/** At most this many spans wait for the collector; more are dropped, so that a silent collector costs no memory. */
const MAX_WAITING_SPANS = 4_096
const REPORT_EVERY_MS = 60_000
const MAX_STOP_MS = 2_000

/** Exports the spans of this process until it is stopped. */
export function startTraceExport(options: TraceExportOptions): { readonly stop: () => Promise<void> } {
  const { endpoint, headers, sampleRatio, version, nodeId } = options
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/\/+$/, '')}/v1/traces`,
    headers: { ...headers },
    timeoutMillis: EXPORT_TIMEOUT_MS,
  })
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({
      'service.name': 'escapement',
      'service.version': version,
      'service.instance.id': nodeId,
    }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(sampleRatio) }),
    spanProcessors: [
      new BatchSpanProcessor(exporter, {
        maxQueueSize: MAX_WAITING_SPANS,
        scheduledDelayMillis: EXPORT_EVERY_MS,
        exportTimeoutMillis: EXPORT_TIMEOUT_MS,
      }),
    ],
  })
  setGlobalErrorHandler(createFailureReport(options.failed))
  context.setGlobalContextManager(createContextManager())
  trace.setGlobalTracerProvider(provider)
  const stop = async (): Promise<void> => {
    // A collector that does not answer must not delay the end.
    await Promise.race([
      provider.shutdown().catch(() => undefined),
      new Promise((resolve) => setTimeout(resolve, MAX_STOP_MS).unref()),
    ])
    trace.disable()
    context.disable()
    setGlobalErrorHandler(loggingErrorHandler())
  }
  let stopping: Promise<void> | null = null
  // A second signal stops the server again; by then another one may export in this process.
  return { stop: () => (stopping ??= stop()) }
}

/** The active span follows asynchronous calls. */
export function createContextManager(): ContextManager {
  const storage = new AsyncLocalStorage<Context>()
  const manager: ContextManager = {
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    // oxlint-disable-next-line max-params -- the signature is OpenTelemetry's
    with: (active, task, thisArg, ...args) => storage.run(active, () => task.apply(thisArg as never, args)),
    bind: (_active, target) => target,
    enable: () => manager,
    disable: () => manager,
  }
  return manager
}

/** A collector that is away fails every five seconds; one line a minute is enough. */
function createFailureReport(failed: (message: string) => void): (error: unknown) => void {
  let reportedAt = -Infinity
  return (error) => {
    const now = performance.now()
    if (now - reportedAt < REPORT_EVERY_MS) return
    reportedAt = now
    failed(error instanceof Error ? error.message : String(error))
  }
}
