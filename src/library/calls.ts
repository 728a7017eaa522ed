import type { CallOptions, CallsInProcess } from '../client/calls.ts'
import type { Answer } from '../api/operation.ts'
import { bodyReader, schemaReader, type Reader } from '../api/read-input.ts'
import type { Caller } from '../service/caller.ts'
import type { Operation, OperationTable } from '../operations/handler.ts'
import { perform, readKey, type DoorCall } from '../operations/perform.ts'
import { OPERATIONS } from '../operations/table.ts'
import { requireObject } from './given.ts'
import type { Running } from './running.ts'

type Values = Readonly<Record<string, unknown>>
type Given = Pick<DoorCall, 'params' | 'query' | 'body'>
type Call = (...args: readonly unknown[]) => Promise<unknown>

/** What a call in this process may be told beside its input. */
interface Options extends CallOptions {
  readonly query?: Values | undefined
  readonly progress?: ((progress: unknown) => void) | undefined
}

/** Every operation that needs no server, as a function: read and carried out here, without HTTP and without JSON. */
export function callsOf(running: () => Running): CallsInProcess {
  const groups: Record<string, Record<string, Call>> = {}
  const table: OperationTable = OPERATIONS
  for (const [id, operation] of Object.entries(table)) {
    if (operation.http === true || operation.serverOnly === true) continue
    const [group = '', name = ''] = id.split('.')
    ;(groups[group] ??= {})[name] = callOf(running, id, operation)
  }
  // The types say of each operation what this loop does with it; a test holds both to the same table.
  return groups as unknown as CallsInProcess
}

function callOf(running: () => Running, id: string, operation: Operation): Call {
  const answers = Object.keys(operation.answers)
  const isEmpty = answers.length === 1 && answers[0] === '204'
  let made: InputReader | null = null
  return async (...args) => {
    const now = running()
    const { params, query, body, sent, options } = (made ??= inputReader(operation))(args)
    const { idempotencyKey: key, ifMatch, signal } = options
    signal?.throwIfAborted()
    const once =
      operation.creates !== true || key === undefined
        ? undefined
        : keyed(id, readKey('idempotencyKey', key), { params, query, body: sent })
    const { ctx, principal } = now
    const call: DoorCall = {
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
    const answered = await within(options, perform(operation, call, now.traced))
    if (isEmpty) return undefined
    return answers.length === 1 ? answered : (answered as Answer<number, unknown>).body
  }
}

/**
 * What a key is bound to. Messages and tasks are bound as in 0.1.0, so that a call repeated across an upgrade, or at a node
 * of the release before, is not carried out again.
 */
function keyed(id: string, key: string, given: Given): Caller['once'] {
  if (id === 'sessions.send') return { route: 'message', key, body: given }
  return id === 'tasks.submit' ? { route: 'task', key, body: given.body } : { route: id, key, body: given }
}

/** What was done stays done when the caller waits no longer. */
function within({ signal, timeoutMs }: Options, work: unknown): unknown {
  if (signal === undefined && timeoutMs === undefined) return work
  const ends = [signal, timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs)]
  const end = AbortSignal.any(ends.filter((one) => one !== undefined))
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      reject(end.reason as Error)
    }
    end.addEventListener('abort', stop, { once: true })
    Promise.resolve(work)
      .then(resolve, reject)
      .finally(() => {
        end.removeEventListener('abort', stop)
      })
  })
}

interface Input extends Given {
  /** The body as it was given: a repetition is recognized by it. */
  readonly sent: unknown
  readonly options: Options
}

type InputReader = (args: readonly unknown[]) => Input

const NOTHING = {}

/** Sorts the arguments of a call as the client does, and reads them: parameters, the body or else the query, options. */
function inputReader(operation: Operation): InputReader {
  const hasBody = operation.body !== undefined
  const hasQuery = operation.query !== undefined
  const readParams = paramsReader(operation)
  const readQuery = hasQuery ? schemaReader(operation.query) : null
  const readBody = objectReader(operation)
  return (args) => {
    let next = 0
    const params = readParams === null ? NOTHING : readParams(args[next++])
    const input = hasBody || hasQuery ? args[next++] : undefined
    const options = (args[next] ?? NOTHING) as Options
    const query = readQuery === null ? NOTHING : readQuery(queryOf(hasBody ? options.query : input))
    const body = readBody === null ? undefined : readBody(input)
    return { params, query, body, sent: hasBody ? (input ?? body) : undefined, options }
  }
}

/** One parameter of the path stands for itself; several come as an object. */
function paramsReader({ path, params }: Operation): Reader | null {
  if (params === undefined) return null
  const read = schemaReader(params)
  const [name = '', ...more] = [...path.matchAll(/:(\w+)/g)].map(([, found]) => found ?? '')
  return more.length > 0 ? read : (given) => read({ [name]: given })
}

/** A list is written with commas, as over HTTP. */
function queryOf(given: unknown): unknown {
  if (given === undefined || given === null) return NOTHING
  requireObject('query', given, 'an object, or nothing')
  const values = Object.entries(given).filter(([, value]) => value !== undefined && value !== null)
  return Object.fromEntries(values.map(([name, value]) => [name, Array.isArray(value) ? value.join(',') : value]))
}

/** Programs in JavaScript have no compiler that would have told them what is missing. */
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
