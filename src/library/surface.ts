import type { Answer } from '../api/operation.ts'
import { bodyReader, type Reader, schemaReader } from '../api/read-input.ts'
import { ErrLaneCleared, ErrMessageStale, ErrQueueDropped } from '../api/refusals.ts'
import type { CallOptions, CallsInProcess } from '../client/calls.ts'
import type { SimulationOptions } from '../client/simulation.ts'
import { runId } from '../domain/ids.ts'
import { isTerminal } from '../domain/run/run-machine.ts'
import type { Handler } from '../executors/in-process/execute.ts'
import type { Caller } from '../features/access/caller.ts'
import { setHeartbeatEnabled } from '../features/heartbeats/service.ts'
import { applyLane } from '../features/lanes/routes.ts'
import { getOrCreateLane } from '../features/lanes/service.ts'
import type { RunView } from '../features/runs/schema.ts'
import { getRun } from '../features/runs/service.ts'
import type { MessageInput } from '../features/sessions/schema.ts'
import { readSessionKey } from '../features/sessions/service.ts'
import type { SimulateInput } from '../features/simulation/schema.ts'
import type { Escapement } from './escapement.ts'
import { requireFunction, requireObject, type Running } from './running.ts'
import type { Operation, OperationTable } from '../operations/handler.ts'
import { type OperationCall, executeOperation, readKey } from '../operations/perform.ts'
import { OPERATIONS } from '../operations/table.ts'

/** Waits until the run has ended. Events only say when to read the run again. */
async function waitForRun({ app, orgId, waiters }: Running, id: string, timeoutMs: number | null): Promise<RunView> {
  const { counter } = app.parts.ctx.clock
  const began = counter()
  for (;;) {
    const { promise, give } = waiters.ended(runId(id))
    try {
      const now = await getRun(app.ports, orgId, id)
      if (isTerminal(now.status)) return now
      const leftMs = timeoutMs === null ? null : Math.max(0, timeoutMs - (counter() - began))
      await withTimeout(promise, leftMs, `Run ${id} has not ended within ${timeoutMs ?? 0} ms`)
    } finally {
      give()
    }
  }
}

async function withTimeout(promise: Promise<void>, ms: number | null, message: string): Promise<void> {
  if (ms === null) {
    await promise
    return
  }
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(message))
    }, ms)
  })
  try {
    await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Sends a message and waits until its run has ended. */
async function sendAndWait(
  running: Running,
  send: Escapement['sessions']['send'],
  { key, message }: { readonly key: string; readonly message: MessageInput | string },
): Promise<RunView> {
  const leaveSession = running.waiters.enterSession(running.orgId, readSessionKey(key))
  try {
    const receipt = await send(key, message)
    if (!('run_id' in receipt)) throw new Error('a command such as /stop has no run to wait for; use send')
    const run = await waitForRun(running, receipt.run_id, null)
    if (run.status === 'dropped') throw new ErrQueueDropped(run.id)
    if (run.status === 'cancelled' && run.reason === 'stale') throw new ErrMessageStale(run.id)
    if (run.status === 'cancelled' && run.reason === 'lane_cleared') throw new ErrLaneCleared(run.id)
    return run
  } finally {
    leaveSession()
  }
}

type Values = Readonly<Record<string, unknown>>
type CallInput = Pick<OperationCall, 'params' | 'query' | 'body'>
type InProcessFunction = (...args: readonly unknown[]) => Promise<unknown>

/** Options of a call, beside its input. */
interface InProcessOptions extends CallOptions {
  readonly query?: Values | undefined
  readonly progress?: ((progress: unknown) => void) | undefined
}

/** Every operation that needs no server, as a function: validated and executed in process, without HTTP and JSON. */
function callsOf(running: () => Running): CallsInProcess {
  const groups: Record<string, Record<string, InProcessFunction>> = {}
  const table: OperationTable = OPERATIONS
  for (const [id, operation] of Object.entries(table)) {
    if (operation.http === true || operation.serverOnly === true) continue
    const [group = '', name = ''] = id.split('.')
    ;(groups[group] ??= {})[name] = inProcessFunction(running, id, operation)
  }
  // The types describe what this loop builds; a test compares both with the operation table.
  return groups as unknown as CallsInProcess
}

function inProcessFunction(running: () => Running, id: string, operation: Operation): InProcessFunction {
  const answers = Object.keys(operation.answers)
  const isEmpty = answers.length === 1 && answers[0] === '204'
  let reader: InputReader | null = null
  return async (...args) => {
    const now = running()
    const { params, query, body, rawBody, options } = (reader ??= inputReader(operation))(args)
    const { idempotencyKey: key, ifMatch, signal } = options
    signal?.throwIfAborted()
    const once =
      operation.creates !== true || key === undefined
        ? undefined
        : idempotencyOf(id, readKey('idempotencyKey', key), { params, query, body: rawBody })
    const { ctx, principal } = now
    const call: OperationCall = {
      ctx,
      ports: ctx.ports,
      caller: once === undefined ? now.caller : { ...now.caller, once },
      principal,
      params,
      query,
      body,
      ifMatch,
      signal: () => signal ?? new AbortController().signal,
      progress: options.progress,
      http: null,
    }
    const answered = await withDeadline(options, executeOperation(operation, call, now.traced))
    if (isEmpty) return undefined
    return answers.length === 1 ? answered : (answered as Answer<number, unknown>).body
  }
}

/**
 * What an idempotency key is bound to. Messages and tasks are bound as in 0.1.0, so that a call repeated across an
 * upgrade, or at a node of the previous release, is not executed again.
 */
function idempotencyOf(id: string, key: string, given: CallInput): Caller['once'] {
  if (id === 'sessions.send') return { route: 'message', key, body: given }
  return id === 'tasks.submit' ? { route: 'task', key, body: given.body } : { route: id, key, body: given }
}

/** Ends the wait, but does not undo the call. */
function withDeadline({ signal, timeoutMs }: InProcessOptions, result: unknown): unknown {
  if (signal === undefined && timeoutMs === undefined) return result
  const ends = [signal, timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs)]
  const end = AbortSignal.any(ends.filter((one) => one !== undefined))
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      reject(end.reason as Error)
    }
    end.addEventListener('abort', stop, { once: true })
    Promise.resolve(result)
      .then(resolve, reject)
      .finally(() => {
        end.removeEventListener('abort', stop)
      })
  })
}

interface ParsedArguments extends CallInput {
  /** The body as given; it identifies a repeated call. */
  readonly rawBody: unknown
  readonly options: InProcessOptions
}

type InputReader = (args: readonly unknown[]) => ParsedArguments

const NO_INPUT = {}

/**
 * Assigns the arguments of a call as the client does, and validates them: parameters, the body or else the query,
 * options.
 */
function inputReader(operation: Operation): InputReader {
  const hasBody = operation.body !== undefined
  const hasQuery = operation.query !== undefined
  const hasQueryOption = hasBody || operation.optionalQuery === true
  const readParams = paramsReader(operation)
  const readQuery = hasQuery ? schemaReader(operation.query) : null
  const readBody = objectReader(operation)
  return (args) => {
    let next = 0
    const params = readParams === null ? NO_INPUT : readParams(args[next++])
    const input = hasBody || (hasQuery && !hasQueryOption) ? args[next++] : undefined
    const options = (args[next] ?? NO_INPUT) as InProcessOptions
    const query = readQuery === null ? NO_INPUT : readQuery(queryInput(hasQueryOption ? options.query : input))
    const body = readBody === null ? undefined : readBody(input)
    return { params, query, body, rawBody: hasBody ? (input ?? body) : undefined, options }
  }
}

/** A single path parameter is passed as is; several are passed as an object. */
function paramsReader({ path, params }: Operation): Reader | null {
  if (params === undefined) return null
  const read = schemaReader(params)
  const [name = '', ...more] = [...path.matchAll(/:(\w+)/g)].map(([, found]) => found ?? '')
  return more.length > 0 ? read : (given) => read({ [name]: given })
}

/** Lists are joined with commas, as over HTTP. */
function queryInput(given: unknown): unknown {
  if (given === undefined || given === null) return NO_INPUT
  requireObject('query', given, 'an object, or nothing')
  const values = Object.entries(given).filter(([, value]) => value !== undefined && value !== null)
  return Object.fromEntries(values.map(([name, value]) => [name, Array.isArray(value) ? value.join(',') : value]))
}

/** Checks that a body is given, for callers in JavaScript. */
function objectReader(operation: Operation): Reader | null {
  const { body, bodyOptional, method, tag, examples } = operation
  if (body === undefined) return null
  const read = bodyReader({ ...operation, body })
  const field = method === 'PATCH' ? 'change' : tag.replace(/s$/, '')
  const fields = Object.keys(examples?.body ?? {}).join(', ')
  return (given) => {
    if (given !== undefined || bodyOptional !== true) requireObject(field, given, `an object with ${fields}`)
    return read(given)
  }
}

type ExtendedGroups = 'sessions' | 'runs' | 'agents' | 'heartbeat' | 'lanes'
type Surface = ReturnType<typeof callsOf> & Pick<Escapement, ExtendedGroups | 'simulate'>

/** Every operation as a function, plus functions that only exist in process. */
export function surfaceOf(running: () => Running, register: (id: string, handler: Handler) => Promise<void>): Surface {
  const calls = callsOf(running)
  const send: Escapement['sessions']['send'] = async (key, message, options) => {
    const rawBody = await calls.sessions.send(key, typeof message === 'string' ? { text: message } : message, options)
    return rawBody as Awaited<ReturnType<Escapement['sessions']['send']>>
  }
  const setEnabled = async (id: string, enabled: boolean) =>
    setHeartbeatEnabled(running().app.ports, running().caller, { id, enabled })
  return {
    ...calls,
    sessions: { ...calls.sessions, send, ask: async (key, message) => sendAndWait(running(), send, { key, message }) },
    runs: { ...calls.runs, wait: async (id, { timeoutMs = null } = {}) => waitForRun(running(), id, timeoutMs) },
    agents: {
      ...calls.agents,
      register: async (id, handler) => {
        requireFunction('handler', handler)
        await register(id, handler)
      },
    },
    heartbeat: { ...calls.heartbeat, enable: (id) => setEnabled(id, true), disable: (id) => setEnabled(id, false) },
    lanes: {
      ...calls.lanes,
      getOrCreate: async (name, concurrency) => {
        const { app, caller, ctx } = running()
        return applyLane(ctx, caller.orgId, await getOrCreateLane(app.ports, caller, { name, concurrency }))
      },
    },
    simulate: (input: SimulateInput, { onProgress: progress, ...options }: SimulationOptions = {}) =>
      calls.schedules.simulate(input, { ...options, progress } as SimulationOptions),
  }
}
