import fc from 'fast-check'
import type { LightMyRequestResponse } from 'fastify'
import { RPC_ERRORS } from '../../../src/server/rpc/schema.ts'
import { RPC_METHODS, type RpcMethodSpec } from '../../../src/server/rpc/methods.ts'
import { fitting, shapeOf } from '../../server/contract/arbitrary.ts'
import type { Random } from '../../simulation/random.ts'
import { mutate } from '../mutate.ts'
import { oddValue } from '../odd-values.ts'
import type { Complaint } from './check.ts'
import { knownMarks, type Step } from './step.ts'

/** Steps of this kind go to /rpc; the rest of the name is the method. */
const PREFIX = 'rpc '

export const isRpc = ({ operation }: Step): boolean => operation.startsWith(PREFIX)

const METHODS: readonly (readonly [string, RpcMethodSpec])[] = Object.entries(RPC_METHODS)

/** How many methods there are to be called. */
export const RPC_COUNT = METHODS.length

/** Made once, as for operations. */
const PARAMS = new Map<string, fc.Arbitrary<unknown>>()

const SCHEDULES = [
  ...[
    { kind: 'cron', expr: '0 9 * * *', tz: 'Europe/Berlin' },
    { kind: 'every', everyMs: 60_000 },
  ],
  ...[
    { kind: 'at', atMs: 4_000_000_000_000 },
    { kind: 'cron', expr: '* * * * 8' },
    { kind: 'every', everyMs: 1 },
  ],
]

/** Params of a method: what fits their schema, mostly about something that there is. */
function drawParams([name, spec]: readonly [string, RpcMethodSpec], random: Random): unknown {
  const params = PARAMS.get(name) ?? fitting(shapeOf(spec.params))
  PARAMS.set(name, params)
  const [drawn] = fc.sample(params, { numRuns: 1, seed: random.int(0, 2 ** 31 - 1) })
  const has = (field: string): boolean => spec.takes.includes(`\`${field}`)
  return {
    ...(drawn as object),
    ...(has('jobId') ? { jobId: 'MAKE:schedules.id', id: null } : {}),
    ...(has('agentId') && random.chance(0.8) ? { agentId: random.one(['MAKE:agents.id', 'writer']) } : {}),
    ...(has('key') ? { key: 'MAKE:sessions.key' } : {}),
    ...(has('schedule') && random.chance(0.8) ? { schedule: random.one(SCHEDULES), deliver: false } : {}),
  }
}

const WORDS = ['jsonrpc', 'id', 'method', 'params', 'jobId', 'agentId', 'cron.list', '__proto__', 'constructor', '2.0']

function drawCall(random: Random, id: unknown): Readonly<Record<string, unknown>> {
  const method = random.one(METHODS)
  return { jsonrpc: '2.0', id, method: method[0], params: drawParams(method, random) }
}

const without = (call: Readonly<Record<string, unknown>>, field: string): unknown =>
  Object.fromEntries(Object.entries(call).filter(([name]) => name !== field))

/** What is sent, and what was done to it. */
function drawSent(random: Random): readonly [kind: string, sent: unknown] {
  const call = drawCall(random, random.one([1, 'a', 0, -1.5, '', null]))
  switch (random.int(0, 8)) {
    case 0:
      return ['rpc batch', Array.from({ length: random.int(1, 6) }, (_, at) => drawCall(random, at))]
    case 1:
      return ['rpc odd batch', [call, oddValue(random), without(call, 'id'), mutate(call, random, WORDS)]]
    case 2:
      return ['rpc notification', without(call, 'id')]
    case 3:
      return ['rpc odd id', { ...call, id: oddValue(random) }]
    case 4:
      return ['rpc unknown field', { ...call, params: { ...(call['params'] as object), [random.one(WORDS)]: 1 } }]
    case 5:
      return ['rpc mutated call', mutate(call, random, WORDS) ?? null]
    case 6:
      return ['rpc mutated params', { ...call, params: mutate(call['params'], random, WORDS) }]
    default:
      return ['rpc meant', call]
  }
}

/** A call of /rpc, or some, or what nearly is one. */
export function drawRpc(random: Random): Step {
  const [kind, sent] = drawSent(random)
  const text = knownMarks(JSON.stringify(sent))
  const raw = random.chance(0.05) ? random.one(['['.repeat(5_000), `${text},`, `{"a":${text}`, '']) : text
  const [, method = 'nothing'] = /"method":"([a-z.A-Z]+)"/.exec(text) ?? []
  const operation = PREFIX + (method in RPC_METHODS ? method : 'other')
  const of = raw === text ? kind : 'rpc no JSON'
  return { operation, drawn: { kind: of, refused: false, pick: random.int(0, 100), query: [], raw } }
}

interface Answer {
  readonly jsonrpc?: unknown
  readonly id?: unknown
  readonly error?: { readonly code?: unknown; readonly message?: unknown; readonly data?: unknown }
}

/** What is wrong with what /rpc has answered. */
export function complaintsOfRpc({ statusCode, body }: LightMyRequestResponse, sent: string): readonly Complaint[] {
  const wrong = (message: string): Complaint => ({ kind: 'wrong', message: `${message}: ${body.slice(0, 400)}` })
  if (statusCode === 204) return body === '' ? [] : [wrong('nothing was to be said')]
  if (statusCode !== 200) return []
  const told = JSON.parse(body) as Answer | readonly Answer[]
  const answers = [told].flat() as readonly Answer[]
  const flaws = answers.flatMap((answer) => flawsOf(answer))
  const ids = JSON.stringify(answers.map(({ id }) => id))
  const meant = idsOf(sent)
  // What is wrong with the whole is told once, under no id.
  const isWhole = !Array.isArray(told) && (told as Answer).id === null
  if (meant !== null && !isWhole && ids !== JSON.stringify(meant))
    flaws.push(`answers ${ids} to ${JSON.stringify(meant)}`)
  return flaws.map(wrong)
}

function flawsOf(answer: Answer): string[] {
  if (answer.jsonrpc !== '2.0' || !('id' in answer)) return ['is no JSON-RPC 2.0']
  if ('result' in answer === 'error' in answer) return ['has not either a result or an error']
  if (answer.error === undefined) return []
  const { code, message } = answer.error
  if (typeof message !== 'string' || message === '') return ['says nothing of what is wrong']
  if (code === -32_603) return ['is an error of ours']
  return String(code) in RPC_ERRORS ? [] : [`has the code ${String(code)}, which nobody knows`]
}

/** The ids that have to come back, in their order. Null: what was sent is not JSON. */
function idsOf(sent: string): readonly unknown[] | null {
  try {
    const calls = [JSON.parse(sent)].flat() as readonly unknown[]
    return calls.flatMap((call) => {
      if (typeof call !== 'object' || call === null || Array.isArray(call)) return [null]
      const { id, ...rest } = call as { readonly id?: unknown; readonly jsonrpc?: unknown; readonly method?: unknown }
      const isCall = rest.jsonrpc === '2.0' && typeof rest.method === 'string' && rest.method !== ''
      if (id === undefined) return isCall && !('params' in rest && !isParams(rest.params)) ? [] : [null]
      return id === null || ['string', 'number'].includes(typeof id) ? [id] : [null]
    })
  } catch {
    return null
  }
}

const isParams = (params: unknown): boolean => typeof params === 'object' && params !== null
