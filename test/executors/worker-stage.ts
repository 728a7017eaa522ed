import { startWorker } from '../../src/client/worker/worker.ts'
import type { ResultInput } from '../../src/features/runs/schema.ts'
import type { ClaimAnswer, WorkerAnswer, WorkerAttempt } from '../../src/features/workers/schema.ts'
import { outcomeOfResult } from '../../src/domain/run/outcome.ts'
import { dispatchOf } from '../../src/executors/dispatch.ts'
import type { AttemptReport, Executor } from '../../src/executors/executor.ts'
import { readResult } from '../../src/features/runs/result-input.ts'
import type { Behaviour, ExecutorStage } from './suite.ts'

/** What is asked of a server. */
interface Asked {
  readonly path: string
  readonly body: string
  readonly signal: AbortSignal | null
}

const LARGEST = 1_048_576

/** A server that has nothing but the attempts it is given here, and a worker that does them. */
export function workerStage(): Promise<ExecutorStage> {
  const plane = createPlane()
  let behaviour: Behaviour = { kind: 'hang' }
  let [begun, dropped] = [0, 0]
  const worker = startWorker({
    ...{ url: 'http://plane.test', key: 'key', capacity: 8, drainSeconds: 0, fetch: plane.fetch },
    agents: {
      worker: async (_, { signal, usage }) => {
        begun += 1
        switch (behaviour.kind) {
          case 'succeed':
            return behaviour.output
          case 'fail':
            throw Object.assign(new Error(behaviour.message), { retryable: behaviour.retryable })
          case 'use': {
            const { inputTokens = 0, outputTokens = 0, contextWindow = 0, costMicros = 0 } = behaviour.usage
            usage({
              input_tokens: inputTokens,
              output_tokens: outputTokens,
              context_window: contextWindow,
              cost: costMicros / 1e6,
            })
            return null
          }
          case 'hang':
            await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
            dropped += 1
            throw new Error('stopped')
          case 'flood':
            return 'x'.repeat(2 * LARGEST)
          case 'garble':
            return { big: 1n }
          case 'break':
            throw new Error('nothing of the kind happens here')
        }
      },
    },
  })
  return Promise.resolve({
    ...{ executor: plane.executor, payload: null, begun: () => begun, dropped: () => dropped },
    behave: (next) => {
      behaviour = next
    },
    close: () => worker.stop('now'),
  })
}

interface Given {
  readonly attempt: WorkerAttempt
  readonly settle: (report: AttemptReport) => void
  cancelled: boolean
}

function createPlane(): { readonly executor: Executor; readonly fetch: typeof fetch } {
  const given = new Map<string, Given>()
  const waiting: WorkerAttempt[] = []
  let wake = (): void => undefined
  let count = 0
  const executor: Executor = (attempt, { signal }) => {
    if (signal.aborted) return Promise.resolve({ outcome: { kind: 'stopped' } })
    const id = `att_${(count += 1)}`
    const handed = { ...dispatchOf(attempt, null), agent_id: attempt.agentId, traceparent: null, attempt_id: id }
    return new Promise((settle) => {
      const one: Given = { attempt: handed, settle, cancelled: false }
      given.set(id, one)
      waiting.push(handed)
      signal.addEventListener('abort', () => {
        one.cancelled = true
        wake()
      })
      wake()
    })
  }
  const claim = async ({ body, signal }: Asked): Promise<ClaimAnswer> => {
    const { holding, wait_seconds: wait } = JSON.parse(body) as { holding: string[]; wait_seconds: number }
    const stopped = (): string[] => holding.filter((id) => given.get(id)?.cancelled !== false)
    if (waiting.length === 0 && stopped().length === 0 && wait > 0)
      await new Promise<void>((resolve, reject) => {
        wake = resolve
        signal?.addEventListener('abort', () => reject(signal.reason as Error))
      })
    const cancel = stopped().map((id) => ({ attempt_id: id, reason: 'cancelled' as const }))
    return { worker_id: 'wrk_1', lease_until: '', renew_seconds: 5, attempts: waiting.splice(0), cancel }
  }
  const report = (id: string, body: string): WorkerAnswer => {
    const one = given.get(id)
    given.delete(id)
    const result = readResult(JSON.parse(body) as ResultInput)
    const { output, summary, errorMessage, usage } = result
    one?.settle({
      ...{ outcome: outcomeOfResult(result), output },
      ...(summary === null ? {} : { summary }),
      ...(errorMessage === null ? {} : { errorMessage }),
      ...(usage === null ? {} : { usage }),
    })
    return { status: 'success', ignored: one === undefined, cancel: false, reason: null, ends_by: null }
  }
  const fetch = async (input: unknown, { body = '', signal = null }: RequestInit = {}): Promise<Response> => {
    const { pathname } = new URL(String(input))
    const asked = { path: pathname, body: typeof body === 'string' ? body : '', signal }
    if (asked.body.length > LARGEST) return problem(413, 'BODY_TOO_LARGE')
    if (pathname.endsWith('/claim')) return Response.json(await claim(asked))
    const [, id = '', what] = /attempts\/([^/]+)\/(\w+)$/.exec(pathname) ?? []
    if (what === 'complete') return Response.json(report(id, asked.body))
    const cancel = given.get(id)?.cancelled !== false
    return Response.json({ status: 'running', ignored: false, cancel, reason: null, ends_by: null })
  }
  return { executor, fetch }
}

const problem = (status: number, code: string): Response =>
  new Response(JSON.stringify({ code, detail: code, title: code, status, request_id: 'r' }), {
    ...{ status, headers: { 'content-type': 'application/problem+json' } },
  })
