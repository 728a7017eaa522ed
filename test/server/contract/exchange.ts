import fc from 'fast-check'
import type { LightMyRequestResponse } from 'fastify'
import { expect } from 'vitest'
import { z } from 'zod'
import { errorCodesOf } from '../../../src/operations/openapi.ts'
import type { OperationSpec } from '../../../src/api/operation.ts'
import { type Problem, problem } from '../../../src/api/problem.ts'
import { REFUSAL_CODES, type RefusalCode } from '../../../src/api/refusals.ts'

import { facadeCodeOf, taskError } from '../../../src/features/tasks/schema.ts'
import { isFacadePath } from '../../../src/server/http/server.ts'
import type { HttpWorld } from '../support.ts'
import {
  fitting,
  fittingBackfill,
  fittingChannel,
  fittingObject,
  fittingSchedule,
  fittingSimulation,
  shapeOf,
} from './arbitrary.ts'
import { sometimesHostile, type Drawn, type Shapes } from './hostile.ts'
import { ALL_OPERATIONS, fillPath, kindOf, make, paramsIn } from './objects.ts'

/** Requests of an operation: meant ones, and ones that something bad was done to. */
export function requestsOf(id: string, spec: OperationSpec): fc.Arbitrary<Drawn> {
  const shapes: Shapes = {
    body: spec.body === undefined ? null : shapeOf(spec.body),
    query: spec.query === undefined ? {} : shapeOf(spec.query),
  }
  const meant = fc
    .record({ pick: fc.nat(100), query: queriesOf(shapes), body: bodiesOf(id, spec, shapes), key: onceOf(spec) })
    .map(({ key, ...drawn }): Drawn => ({
      ...{ kind: 'meant', refused: false, ...drawn },
      ...(key === null ? {} : { headers: { 'idempotency-key': key } }),
    }))
  return sometimesHostile(meant, [id, spec], shapes)
}

const queriesOf = ({ query }: Shapes): fc.Arbitrary<Drawn['query']> =>
  fittingObject(query).map((made) => Object.entries(made).map(([name, value]) => [name, String(value)] as const))

function bodiesOf(id: string, spec: OperationSpec, { body }: Shapes): fc.Arbitrary<unknown> {
  if (body === null) return fc.constantFrom(undefined, {})
  const example = fc.constant(spec.examples?.body ?? {})
  const made =
    id === 'channels.create'
      ? fittingChannel()
      : id === 'schedules.simulate'
        ? fittingSimulation(body)
        : id === 'schedules.backfill'
          ? fittingBackfill(body)
          : /^schedules\.(create|preview)$/.test(id)
            ? fittingSchedule(body)
            : fitting(body)
  return fc.oneof({ weight: 1, arbitrary: example }, { weight: 4, arbitrary: made })
}

/** Now and then the same key again: then it is the same request, or it is refused. */
const onceOf = ({ creates }: OperationSpec): fc.Arbitrary<string | null> =>
  creates === true
    ? fc.oneof({ weight: 5, arbitrary: fc.constant(null) }, fc.constantFrom('once-1', 'once-2'))
    : fc.constant(null)

/** The things there are, by kind: made when they run short, and taken away when they are gone. */
export class Things {
  readonly #world: HttpWorld
  readonly #byKind = new Map<string, string[]>()

  constructor(world: HttpWorld) {
    this.#world = world
  }

  /** How many were made so far: who makes something changes something. */
  made = 0

  async pick(kind: string, pick: number): Promise<string> {
    const known = FRESH.has(kind) ? [] : (this.#byKind.get(kind) ?? [])
    this.#byKind.set(kind, known)
    while (known.length < (FRESH.has(kind) ? 1 : FEWEST)) {
      known.push(await make(this.#world, kind))
      this.made += 1
    }
    return known[pick % known.length] ?? ''
  }

  /** The text with every `MAKE:<kind>` in it replaced by one of that kind. */
  async fill(text: string, pick: number): Promise<string> {
    let filled = text
    for (const [mark, kind = ''] of text.matchAll(/MAKE:([\w.]+)/g))
      filled = filled.replace(mark, await this.pick(kind, pick))
    return filled
  }

  lose(kind: string, name: string): void {
    this.#byKind.set(
      kind,
      (this.#byKind.get(kind) ?? []).filter((one) => one !== name),
    )
  }
}

const FEWEST = 3

/** Works once: every time another one. */
const FRESH: ReadonlySet<string> = new Set(['auth.token'])

/** After success these are not what they were. */
const USED_UP: ReadonlySet<string> = new Set(['runs.cancel', 'tasks.cancel', 'callbacks.settle', 'worker.complete'])

/** A request as it was sent, and what came back. */
export interface Exchange {
  readonly id: string
  readonly spec: OperationSpec
  readonly drawn: Drawn
  readonly url: string
  readonly response: LightMyRequestResponse
}

/** A request of which nothing has been sent yet. */
export type Planned = Omit<Exchange, 'url' | 'response'>

/** Sends a request to one of the things there are. Whoever wants to look before it is sent, does. */
export async function send(
  world: HttpWorld,
  planned: Planned & { readonly things: Things; readonly look: () => Promise<void> },
): Promise<Exchange> {
  const { things, look, ...of } = planned
  const { id, spec, drawn } = of
  const { url, named } = await addressOf(things, of)
  const payload = await payloadOf(things, of)
  await look()
  const response = await world.ask(spec.method, url, {
    ...(payload === undefined ? {} : { raw: payload }),
    ...(drawn.headers === undefined ? {} : { headers: drawn.headers }),
    as: spec.operatorOnly === true ? 'operator' : 'owner',
  })
  const isGone = spec.method === 'DELETE' || USED_UP.has(id)
  const last = named.at(-1)
  if (isGone && last !== undefined && response.statusCode < 300) things.lose(...last)
  return { ...of, url, response }
}

/** The body that a request has on the wire. */
export async function payloadOf(things: Things, { spec, drawn }: Planned): Promise<string | Buffer | undefined> {
  const { body, raw, pick } = drawn
  if (spec.method === 'GET') return undefined
  if (raw instanceof Uint8Array) return Buffer.from(raw)
  const text = raw ?? (body === undefined ? undefined : JSON.stringify(body))
  return text === undefined ? undefined : things.fill(text, pick)
}

/** Where a request goes, and what is named in it, each with its kind. */
export interface Address {
  readonly url: string
  readonly named: readonly (readonly [kind: string, name: string])[]
}

/** The address of the thing that a request is about, and what is named in it. */
export async function addressOf(things: Things, { id, spec, drawn }: Planned): Promise<Address> {
  const named: (readonly [kind: string, name: string])[] = []
  for (const param of paramsIn(spec.path)) {
    const kind = kindOf(id, spec, param)
    named.push([kind, await things.pick(kind, drawn.pick)])
  }
  const names = paramsIn(spec.path)
  const values = Object.fromEntries(names.map((name, index) => [name, named[index]?.[1] ?? '']))
  const path = fillPath(spec.path, values)
  const odd =
    drawn.param === undefined
      ? path
      : path.replace(encodeURIComponent(named.at(-1)?.[1] ?? ''), () => drawn.param ?? '')
  const written = new URLSearchParams(drawn.query.map(([name, value]): [string, string] => [name, value])).toString()
  const query = await things.fill(written.replaceAll('MAKE%3A', 'MAKE:'), drawn.pick)
  return { url: query === '' ? odd : `${odd}?${query}`, named }
}

/** What an odd parameter makes of the address may lead elsewhere: these are said of addresses, not of operations. */
const OF_ADDRESSES = ['NOT_FOUND', 'URL_TOO_LONG', 'MALFORMED', 'METHOD_NOT_ALLOWED']

/** Checks an answer against what the table says of it. */
export function checkAnswer(exchange: Exchange): void {
  const { id, drawn, response, url } = exchange
  const spec = reached(exchange)
  const { statusCode, headers } = response
  expect(statusCode, response.body).toBeLessThan(500)
  if (statusCode >= 400) {
    if (isFacadeUrl(url)) checkTaskError(exchange)
    else checkProblem(exchange)
    return
  }
  if (isConsole(url)) {
    expect(headers['content-type']).toBe('text/html; charset=utf-8')
    return
  }
  expect(drawn.refused, `${id} took what nobody may take`).toBe(false)
  if (statusCode === 304) return
  expect(Object.keys(spec.answers).map(Number)).toContain(statusCode)
  const shape = spec.answers[statusCode]
  if (shape === null || shape === undefined || 'contentType' in shape) {
    expect(response.body).toBe('')
    return
  }
  expect(headers['content-type']).toBe('application/json; charset=utf-8')
  const body = response.json<{ readonly version?: number }>()
  const read = shape.safeParse(body)
  expect(read.success, read.success ? '' : `${z.prettifyError(read.error)} in ${response.body}`).toBe(true)
  if (spec.etag === true) expect(headers['etag']).toBe(`"${body.version}"`)
}

/** The operation that answers: with `..` as a parameter, `/schedules/../explain` is another one than was meant. */
function reached({ spec, url }: Exchange): OperationSpec {
  const steps = new URL(url, 'http://localhost').pathname.split('/')
  const leadsThere = ({ method, path }: OperationSpec): boolean => {
    const own = path.split('/')
    const isStep = (step: string, at: number): boolean => step.startsWith(':') || step === steps[at]
    return method === spec.method && own.length === steps.length && own.every(isStep)
  }
  return leadsThere(spec) ? spec : (ALL_OPERATIONS.find(([, other]) => leadsThere(other))?.[1] ?? spec)
}

/** An odd parameter may lead out of the façade: `..` does. */
const isFacadeUrl = (url: string): boolean => isFacadePath(new URL(url, 'http://localhost').pathname)

/** And from there it leads to the console, which everybody may load. */
const isConsole = (url: string): boolean => new URL(url, 'http://localhost').pathname === '/'

/** The run that keeps the record of a refusal, if one does. */
export function recordOf({ url, response }: Exchange): unknown {
  const { run_id: run, details } = response.json<Pick<Problem, 'run_id' | 'details'>>()
  return isFacadeUrl(url) ? details?.['taskId'] : run
}

function checkTaskError({ spec, drawn, response }: Exchange): void {
  expect(response.headers['content-type']).toBe('application/json; charset=utf-8')
  const told = taskError.parse(response.json())
  expect(told.error).not.toBe('')
  const known = [...errorCodesOf(spec), ...(drawn.param === undefined ? [] : OF_ADDRESSES)] as readonly RefusalCode[]
  const meant = known.filter((code) => facadeCodeOf(code) === told.code)
  expect(meant.map((code) => REFUSAL_CODES[code])).toContain(response.statusCode)
  if (meant.includes('QUEUE_FULL')) expect(response.headers['retry-after']).toMatch(/^[1-9]/)
}

function checkProblem({ spec, drawn, response }: Exchange): void {
  expect(response.headers['content-type']).toBe('application/problem+json; charset=utf-8')
  const told = problem.parse(response.json())
  expect(told.status).toBe(response.statusCode)
  expect(REFUSAL_CODES[told.code]).toBe(told.status)
  expect(told.detail).not.toBe('')
  const known: readonly string[] = [...errorCodesOf(spec), ...(drawn.param === undefined ? [] : OF_ADDRESSES)]
  expect(known, `${told.code} is not among the refusals of the table: ${told.detail}`).toContain(told.code)
  if (told.code === 'VALIDATION') expect(told.errors ?? []).not.toEqual([])
}
