import type { LightMyRequestResponse } from 'fastify'
import { addressOf, checkAnswer, payloadOf, recordOf, Things, type Exchange } from '../../http/contract/exchange.ts'
import { createLook, type Look } from '../../http/contract/fingerprint.ts'
import { makeOwner } from '../../http/contract/objects.ts'
import { createHttpWorld, type HttpWorld, type Method } from '../../http/support.ts'
import { complaintsOf, type Complaint } from './check.ts'
import { specOf, twistUrl, type Step } from './step.ts'

/** A server on a database of its own, with everything there is to ask for, and what must hold of every answer. */
export interface ApiWorld {
  /** Sends a request and answers with the status and with what is wrong. */
  readonly take: (step: Step) => Promise<Taken>
  readonly close: () => Promise<void>
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
  const look = await createLook(world.services.db)
  return {
    take: (step) => take({ world, things, look }, step),
    close: world.close,
  }
}

interface Parts {
  readonly world: HttpWorld
  readonly things: Things
  readonly look: Look
}

async function take(parts: Parts, step: Step): Promise<Taken> {
  const { world, things, look } = parts
  const spec = specOf(step)
  if (spec === null)
    return { status: 0, complaints: [{ kind: 'wrong', message: 'there is no such operation any more' }] }
  const planned = { id: step.operation, spec, drawn: step.drawn }
  const { url, named } = await addressOf(things, planned)
  const payload = await payloadOf(things, planned)
  const plain: Request = {
    ...{ method: spec.method, url, raw: payload, headers: step.drawn.headers ?? {} },
    as: step.as === undefined ? (spec.operatorOnly === true ? 'operator' : 'owner') : step.as,
  }
  const request = twisted(plain, step)
  const before = await look()
  const begin = performance.now()
  const response = await ask(world, request)
  const ms = performance.now() - begin
  if (response.statusCode < 300) forget(things, step, named)
  const exchange: Exchange = { ...planned, url, response }
  const isPlain = step.twist === undefined && step.as === undefined
  // A twisted request may reach another operation, whose answers are of another shape.
  const complaints = [...complaintsOf(response, { ms, spec: isPlain ? null : sameOperation(step, spec) })]
  if (complaints.length === 0 && isPlain) complaints.push(...asTheTableSays(exchange))
  complaints.push(...(await unchanged(parts, exchange, before)), ...logged(world))
  return { status: response.statusCode, complaints }
}

const sameOperation = ({ twist }: Step, spec: NonNullable<ReturnType<typeof specOf>>) =>
  twist === undefined || twist.kind === 'headers' ? spec : null

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
async function unchanged({ look }: Parts, exchange: Exchange, before: string): Promise<readonly Complaint[]> {
  const { statusCode, body } = exchange.response
  if (statusCode < 400 || statusCode >= 500) return []
  const isJson = String(exchange.response.headers['content-type'] ?? '').includes('json')
  if (isJson && body !== '' && recordOf(exchange) !== undefined) return []
  const after = await look()
  if (after === before) return []
  const rows = after.split('\n').filter((row) => !before.includes(row))
  return [{ kind: 'wrong', message: `was refused with ${statusCode} and has changed ${rows.join(', ').slice(0, 300)}` }]
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

function ask(world: HttpWorld, { method, url, raw, headers, as }: Request): Promise<LightMyRequestResponse> {
  return world.ask(method, url, { ...(raw === undefined ? {} : { raw }), headers, as })
}

function twisted(request: Request, { twist }: Step): Request {
  switch (twist?.kind) {
    case undefined:
    case 'at once':
      return request
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
