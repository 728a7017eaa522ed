import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { TOOLS } from '../../src/server/mcp/tools/tools.ts'
import { RPC_METHODS, type RpcMethodSpec } from '../../src/server/rpc/methods.ts'
import type { OperationSpec } from '../../src/api/operation.ts'
import { ALL_OPERATIONS, fillPath, kindOf, make, makeOwner, paramsIn } from '../server/contract/objects.ts'
import { createHttpWorld, type HttpWorld, type Method } from '../server/support.ts'
import { HOSTILE_VALUES } from './hostile-values.ts'
import { shortestOf } from './main-thread.ts'

// Every operation that takes a body, by every door, with every body that is meant to keep a node busy: as the body, and
// as each of its fields. All of it comes from the tables, so what is added there is asked here.

/** Nothing else is answered meanwhile, so nothing may take longer. Meant are 20 ms; a slow machine takes some times that. */
const MAX_STRETCH_MS = 100

/** What holds a node up does so every time; beside other work a core is slow for a while, and a collection takes longer. */
const ATTEMPTS = 10

/** A door that takes bodies: where it is, and the body that holds a value as one of its fields. */
interface Door {
  readonly name: string
  readonly method: Method
  readonly path: string
  readonly as: string
  readonly param: (name: string) => string
  readonly example: Readonly<Record<string, unknown>>
  readonly fields: readonly string[]
  readonly wrap: (body: string) => string
}

const propertiesOf = (schema: z.ZodType | undefined): readonly string[] =>
  schema === undefined
    ? []
    : Object.keys(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }).properties ?? {})

const asIs = (body: string): string => body

const ofOperation = (id: string, spec: OperationSpec): Door => ({
  ...{ name: id, method: spec.method, path: spec.path, as: spec.operatorOnly === true ? 'operator' : 'owner' },
  param: (name) => kindOf(id, spec, name),
  example: (spec.examples?.body ?? {}) as Door['example'],
  fields: propertiesOf(spec.body),
  wrap: asIs,
})

const calling = (path: string, name: string): Omit<Door, 'example' | 'fields' | 'wrap'> => ({
  ...{ name: `${path} ${name}`, method: 'POST', path, as: 'owner', param: () => '' },
})

const DOORS: readonly Door[] = [
  ...ALL_OPERATIONS.filter(([, { method }]) => method !== 'GET').map(([id, spec]) => ofOperation(id, spec)),
  ...Object.entries(RPC_METHODS as Readonly<Record<string, RpcMethodSpec>>).map(([method, { params }]): Door => ({
    ...{ ...calling('/rpc', method), example: {}, fields: propertiesOf(params) },
    wrap: (body) => `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${body}}`,
  })),
  ...Object.entries(TOOLS as Readonly<Record<string, { readonly input: z.ZodType }>>).map(
    ([tool, { input }]): Door => ({
      ...{ ...calling('/mcp', tool), example: {}, fields: propertiesOf(input) },
      wrap: (body) => `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${tool}","arguments":${body}}}`,
    }),
  ),
]

/** The body of a door with something else in one of its fields. */
function withField({ example, wrap }: Door, field: string, value: string): string {
  const { [field]: _left, ...others } = example
  const rest = JSON.stringify(others).slice(1)
  return wrap(`{${JSON.stringify(field)}:${value}${rest === '}' ? '' : ','}${rest}`)
}

const VALUES = Object.entries(HOSTILE_VALUES)

/** Every value in every field takes minutes; so each field gets some, and its neighbors get others. */
const EVERY_VALUE = process.env['ESCAPEMENT_EVERY_HOSTILE_VALUE'] !== undefined
const PER_FIELD = 2

const valuesFor = (index: number): typeof VALUES =>
  EVERY_VALUE
    ? VALUES
    : Array.from({ length: PER_FIELD }, (_, more) => VALUES[(index * PER_FIELD + more) % VALUES.length] ?? ['', ''])

let world: HttpWorld
const named = new Map<string, string>()
beforeAll(async () => {
  world = await createHttpWorld()
  await makeOwner(world)
})
afterAll(() => world.close())

async function addressOf({ path, param }: Door): Promise<string> {
  const values: Record<string, string> = {}
  for (const name of paramsIn(path)) {
    const kind = param(name)
    const thing = named.get(kind) ?? (await make(world, kind))
    named.set(kind, thing)
    values[name] = thing
  }
  return fillPath(path, values)
}

/** Asks, and answers with how it held everything up and what it was answered. */
async function ask(door: Door, raw: string): Promise<readonly [number, number]> {
  const url = await addressOf(door)
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  let status = 0
  const stretch = await shortestOf(ATTEMPTS, MAX_STRETCH_MS, async () => {
    status = (await world.ask(door.method, url, { raw, headers, as: door.as })).statusCode
  })
  return [stretch, status]
}

describe.each(DOORS)('a body that is meant to keep a node busy, at $name', (door) => {
  it('is answered without holding up everything else, and never as a fault of the server', async () => {
    const bad: string[] = []
    const look = async (what: string, body: string): Promise<void> => {
      const [stretch, status] = await ask(door, body)
      if (stretch > MAX_STRETCH_MS || status >= 500) bad.push(`${what}: ${stretch.toFixed(0)} ms, ${status}`)
    }
    for (const [kind, value] of VALUES) await look(kind, door.wrap(value))
    for (const [index, field] of door.fields.entries())
      for (const [kind, value] of valuesFor(index)) await look(`${field}, ${kind}`, withField(door, field, value))
    expect(bad).toEqual([])
  }, 300_000)
})
