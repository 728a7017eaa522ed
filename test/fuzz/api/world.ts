import type { LightMyRequestResponse } from 'fastify'
import type { OperationSpec } from '../../../src/api/operation.ts'
import type { Database } from '../../../src/platform/db/database.ts'
import {
  addressOf,
  checkAnswer,
  payloadOf,
  recordOf,
  Things,
  type Exchange,
  type Planned,
} from '../../server/contract/exchange.ts'
import type { Drawn } from '../../server/contract/hostile.ts'
import { createLook, type Look } from '../../server/contract/fingerprint.ts'
import { makeOwner } from '../../server/contract/objects.ts'
import { createHttpWorld, type HttpWorld, type Method } from '../../server/support.ts'
import { stopwatch } from '../waits.ts'
import { complaintsOf, type Complaint } from './check.ts'
import { complaintsOfCrowd } from './crowd.ts'
import { complaintsAtRest } from './rest.ts'
import { complaintsOfRpc, isRpc } from './rpc.ts'
import { specOf, twistUrl, type Step } from './step.ts'

/** A server on a database of its own, with everything there is to ask for, and what must hold of every answer. */
export interface ApiWorld {
  /** Sends a request and answers with the status and with what is wrong. */
  readonly take: (step: Step) => Promise<Taken>
  readonly database: Database
  /** How many requests were sent so far. */
  readonly sent: () => number
  /** What does not hold of everything that was made, when nothing is asked any more. */
  readonly rest: () => Promise<readonly Complaint[]>
  readonly close: () => Promise<void>
}

/** Nothing can be made in this world any more: a budget is used up, or an agent is gone. */
export class Spent extends Error {
  override readonly name = 'Spent'
}

export interface Taken {
  readonly status: number
  readonly complaints: readonly Complaint[]
}

interface Request {
  readonly method: Method
  readonly url: string
  readonly raw: string | Buffer | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly as: string | null
}

/** Opens the world. */
export async function createApiWorld(): Promise<ApiWorld> {
  const world = await createHttpWorld()
  const things = new Things(world)
  await makeOwner(world)
  const database = world.services.db
  const look = await createLook(database)
  let sent = 0
  const told: string[] = []
  const ask: Ask = ({ method, url, raw, headers, as }) => {
    sent += 1
    return world.ask(method, url, { ...(raw === undefined ? {} : { raw }), headers, as })
  }
  return {
    take: (step) => take({ world, things, look, ask, told }, step),
    ...{ database, sent: () => sent },
    rest: () => complaintsAtRest(database),
    close: world.close,
  }
}

interface Parts {
  readonly world: HttpWorld
  readonly things: Things
  readonly look: Look
  readonly ask: Ask
  /** What was answered so far. */
  readonly told: string[]
}

type Ask = (request: Request) => Promise<LightMyRequestResponse>

async function take(parts: Parts, step: Step): Promise<Taken> {
  const taken = isRpc(step) ? await takeRpc(parts, step) : await takeOperation(parts, step)
  parts.told.push(taken.body ?? '')
  return { status: taken.status, complaints: taken.complaints }
}

/** What an earlier answer said, or null when it said no such thing. */
function borrowed(told: readonly string[], { borrow }: Step): string | null {
  if (borrow === undefined) return null
  const body = told.at(-borrow.back) ?? ''
  const said = body.startsWith('{') ? (JSON.parse(body) as Readonly<Record<string, unknown>>) : {}
  const value = said[borrow.what === 'id' ? 'id' : 'next_cursor']
  return typeof value === 'string' ? value : null
}

/** The request with what was borrowed in it. */
const lent = ({ drawn, borrow }: Step, value: string): Drawn =>
  borrow?.what === 'cursor'
    ? { ...drawn, query: [...drawn.query.filter(([name]) => name !== 'cursor'), ['cursor', value]] }
    : { ...drawn, param: encodeURIComponent(value) }

async function takeOperation(parts: Parts, step: Step): Promise<Taken & { readonly body?: string }> {
  const { world, things, look, ask } = parts
  const spec = specOf(step)
  if (spec === null)
    return { status: 0, complaints: [{ kind: 'wrong', message: 'there is no such operation any more' }] }
  const value = borrowed(parts.told, step)
  const planned = { id: step.operation, spec, drawn: value === null ? step.drawn : lent(step, value) }
  const { url, named, payload } = await prepared(things, planned)
  const plain: Request = {
    ...{ method: spec.method, url, raw: payload, headers: step.drawn.headers ?? {} },
    as: step.as === undefined ? (spec.operatorOnly === true ? 'operator' : 'owner') : step.as,
  }
  const request = twisted(plain, step, spec)
  const before = await look()
  const elapsed = stopwatch()
  const responses = await Promise.all(Array.from({ length: timesOf(step) }, () => ask(request)))
  const ms = elapsed()
  const response = responses.find(({ statusCode }) => statusCode < 300) ?? responses[0]
  if (response === undefined) throw new Error('nothing was sent')
  if (response.statusCode < 300) forget(things, step, named)
  const exchange: Exchange = { ...planned, url, response }
  const isPlain = step.twist === undefined && step.as === undefined
  // A twisted request may reach another operation, whose answers are of another shape.
  const answering = sameOperation(step, spec)
  const complaints = [...complaintsOf(response, { ms, spec: isPlain ? null : answering })]
  if (responses.length > 1) {
    complaints.push(...responses.flatMap((one) => (one === response ? [] : complaintsOf(one, { ms, spec: answering }))))
    const key = request.headers['idempotency-key']
    complaints.push(...complaintsOfCrowd({ key, responses, before, after: await look() }))
  }
  if (complaints.length === 0 && isPlain) complaints.push(...asTheTableSays(exchange))
  complaints.push(...(await unchanged(exchange, () => changedBy(look, before, () => ask(request)))), ...logged(world))
  if (value !== null && step.borrow?.isForeign === true && response.statusCode < 400)
    complaints.push({ kind: 'wrong', message: `${value} of another org is answered: ${response.body.slice(0, 300)}` })
  return { status: response.statusCode, complaints, body: response.body }
}

/** What was answered to a call that failed has changed nothing, but for the run that keeps the record of it. */
async function takeRpc(
  { world, things, look, ask }: Parts,
  { drawn, as = 'owner' }: Step,
): Promise<Taken & { readonly body?: string }> {
  const raw = await making(() => things.fill(String(drawn.raw), drawn.pick))
  const before = await look()
  const elapsed = stopwatch()
  const request: Request = { method: 'POST', url: '/rpc', raw, headers: {}, as }
  const response = await ask(request)
  const ms = elapsed()
  const complaints = [
    ...complaintsOf(response, { ms, spec: null }),
    ...complaintsOfRpc(response, raw),
    ...logged(world),
  ]
  const { statusCode: status, body } = response
  const isRefused = status === 200 && body.startsWith('{') && body.includes('"error":') && !body.includes('"run_id"')
  const changed = isRefused ? await changedBy(look, before, () => ask(request)) : []
  if (changed.length > 0)
    complaints.push({
      kind: 'wrong',
      message: `was refused and has changed ${changed.join(', ')}: ${body.slice(0, 300)}`,
    })
  return { status, complaints }
}

/** Where a request goes and what it says. Things it needs are made; whatever refuses that was not what is tried. */
const prepared = (things: Things, planned: Planned) =>
  making(async () => ({ ...(await addressOf(things, planned)), payload: await payloadOf(things, planned) }))

async function making<T>(made: () => Promise<T>): Promise<T> {
  try {
    return await made()
  } catch (error) {
    if (error instanceof Error && / answered 4\d\d: /.test(error.message)) throw new Spent(error.message)
    throw error
  }
}

/** The operation that answers, or null when it may be another: `..` in a path leads elsewhere, such as to the console. */
const sameOperation = ({ twist, drawn }: Step, spec: OperationSpec): OperationSpec | null =>
  (twist === undefined || twist.kind === 'headers' || twist.kind === 'at once') && !isDots(drawn.param) ? spec : null

const isDots = (param = ''): boolean => /^(?:\.|%2e){1,2}$/i.test(param)

/** How many send the request at the same time. */
const timesOf = ({ twist }: Step): number => (twist?.kind === 'at once' ? twist.times : 1)

let crowds = 0

/** Everybody of a crowd brings the same key along, where a key is taken; it is new, or the one that was drawn. */
const keyOf = ({ creates }: OperationSpec): Readonly<Record<string, string>> =>
  creates === true ? { 'idempotency-key': `crowd-${(crowds += 1)}` } : {}

/** The same checks as in the tests of the contract. */
function asTheTableSays(exchange: Exchange): readonly Complaint[] {
  try {
    checkAnswer(exchange)
    return []
  } catch (error) {
    return [{ kind: 'wrong', message: (error instanceof Error ? error.message : String(error)).slice(0, 600) }]
  }
}

/** What was refused has changed nothing, but for the run that keeps the record of it. */
async function unchanged(exchange: Exchange, changes: () => Promise<readonly string[]>): Promise<readonly Complaint[]> {
  const { statusCode, body } = exchange.response
  if (statusCode < 400 || statusCode >= 500) return []
  const isJson = String(exchange.response.headers['content-type'] ?? '').includes('json')
  if (isJson && body !== '' && recordOf(exchange) !== undefined) return []
  const rows = await changes()
  if (rows.length === 0) return []
  return [{ kind: 'wrong', message: `was refused with ${statusCode} and has changed ${rows.join(', ').slice(0, 300)}` }]
}

/**
 * The tables that a refused request has changed. Every transaction of an org also judges where its budgets stand: what that
 * has changed was due, and the same request does not change it again.
 */
async function changedBy(look: Look, before: string, again: () => Promise<unknown>): Promise<readonly string[]> {
  const after = await look()
  const rows = differences(before, after)
  if (rows.length === 0 || !rows.every((row) => /^(?:alert|budget|delivery|org_version|turn\w*) /.test(row)))
    return rows
  await again()
  return differences(after, await look()).length === 0 ? [] : rows
}

function differences(before: string, after: string): readonly string[] {
  const known = new Set(before.split('\n'))
  return after.split('\n').filter((row) => !known.has(row))
}

/** Whatever is logged as an error was not expected by anybody. */
function logged({ logged: entries }: HttpWorld): readonly Complaint[] {
  const errors = entries.splice(0).filter(({ level }) => level === 'error')
  return errors.map(({ message, facts }) => ({
    ...{ kind: '5xx' as const, message: `${message}: ${JSON.stringify(facts).slice(0, 600)}` },
  }))
}

/** After these a thing is not what it was; whoever needs one later makes another. */
function forget(things: Things, { operation }: Step, named: readonly (readonly [string, string])[]): void {
  const last = named.at(-1)
  if (last !== undefined && /\.(?:delete|cancel|settle|complete|revoke|remove)$/.test(operation)) things.lose(...last)
}

function twisted(request: Request, { twist }: Step, spec: OperationSpec): Request {
  switch (twist?.kind) {
    case undefined:
      return request
    case 'at once':
      return { ...request, headers: { ...keyOf(spec), ...request.headers } }
    case 'method':
      return {
        ...request,
        method: twist.method,
        raw: twist.method === 'GET' || twist.method === 'HEAD' ? undefined : request.raw,
      }
    case 'headers':
      return { ...request, headers: { ...request.headers, ...twist.headers } }
    case 'path':
      return { ...request, url: twistUrl(request.url, twist.how) }
    case 'bytes':
      return {
        ...request,
        raw: request.method === 'GET' ? undefined : Buffer.from(twist.base64, 'base64'),
        headers: { ...request.headers, 'content-type': twist.type },
      }
  }
}
