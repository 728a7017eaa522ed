import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClient } from '../../src/client/client.ts'
import { createEscapement } from '../../src/index.ts'
import type { Operation } from '../../src/operations/handler.ts'
import { OPERATIONS } from '../../src/operations/table.ts'
import { createHttpWorld, type HttpWorld } from './support.ts'

// What can be done can be done through every door, or it is written here why not.

const OPERATION_LIST: readonly (readonly [string, Operation])[] = Object.entries(OPERATIONS)

/** Operations that no command of the command line calls, and why. */
const WITHOUT_COMMAND: Readonly<Record<string, string>> = {
  'auth.signIn': 'for browsers: it sets a cookie',
  'auth.signOut': 'for browsers: it clears a cookie',
  'callbacks.settle': 'for the agent that was given the token',
  'hooks.receive': 'for services that sign what they send',
  'members.get': '`members list` shows each',
  'metrics.get': 'for Prometheus',
  'probes.fileSchema': 'for editors; the file is part of the package',
  'probes.openapi': 'for generators of clients',
  'runs.getScheduleRun': 'runs.get under the address of the seeds',
  'runs.retryScheduleRun': 'runs.retry under the address of the seeds',
  'schedules.bulk': 'for the console; shells have loops',
  'worker.claim': '`escapement worker` speaks it as a worker',
  'worker.start': '`escapement worker` speaks it as a worker',
  'worker.renew': '`escapement worker` speaks it as a worker',
  'worker.events': '`escapement worker` speaks it as a worker',
  'worker.complete': '`escapement worker` speaks it as a worker',
}

/** All sources of the command line as one text. */
const COMMANDS = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((file) => /^cli\/.*\.ts$|^features\/[^/]+\/cli[^/]*\.ts$/.test(file))
  .map((file) => readFileSync(path.join('src', file), 'utf8'))
  .join('\n')

/** Operations that are called by another name. */
const CALLED_AS: Readonly<Record<string, string>> = {
  'asCode.apply': 'apply: carryOut } = call.client.asCode',
  'asCode.plan': '{ plan, apply: carryOut } = call.client.asCode',
  'events.stream': 'client.events(',
  'schedules.simulate': 'client.simulate(',
  'targets.rotateSecret': 'targets.rotateSecret()',
  'targets.signingSecret': 'targets.signingSecret()',
}

/** Resources whose plain commands are generated. */
const RESOURCES = [...COMMANDS.matchAll(/operations: \(\{ (\w+) \}\) => \1/g)].map(([, group]) => group ?? '')
const PLAIN = RESOURCES.flatMap((group) =>
  ['list', 'get', 'create', 'update', 'delete'].map((verb) => `${group}.${verb}`),
)

/** Commands that differ only in their verb: `client.sessions[verb]`. */
const BY_VERB = [...COMMANDS.matchAll(/client\.(\w+)\[verb\]/g)].map(([, group]) => group ?? '')
const isByVerb = (id: string): boolean => {
  const [group = '', verb = ''] = id.split('.')
  return BY_VERB.includes(group) && COMMANDS.includes(`'${verb}'`)
}

/** A command calls the client, or is one of those that are generated. */
const hasCommand = (id: string): boolean =>
  PLAIN.includes(id) ||
  isByVerb(id) ||
  [`client.${id}`, `'${id}'`, CALLED_AS[id] ?? `'${id}'`].some((call) => COMMANDS.includes(call))

const hasCall = (surface: unknown, id: string): boolean => {
  const [group = '', name = ''] = id.split('.')
  const found = (surface as Record<string, Record<string, unknown> | undefined>)[group]
  return typeof found?.[name] === 'function'
}

const isStream = ({ answers }: Operation): boolean =>
  Object.values(answers).some((answer) => answer !== null && 'contentType' in answer)

describe('every operation', () => {
  let world: HttpWorld
  beforeAll(async () => {
    world = await createHttpWorld()
    await world.app.ready()
  })
  afterAll(() => world.close())

  it('has a route', () => {
    const without = OPERATION_LIST.filter(([, { method, path: url }]) => !world.app.hasRoute({ method, url }))
    expect(without.map(([id]) => id)).toEqual([])
  })

  it('is a call of the client, unless it answers with a stream or a page', () => {
    const client = createClient({ url: 'http://127.0.0.1:7420' })
    const without = OPERATION_LIST.filter(([id]) => !hasCall(client, id))
    expect(without.map(([id]) => id)).toEqual(OPERATION_LIST.filter(([, one]) => isStream(one)).map(([id]) => id))
  })

  it('is a call of the library, unless it needs a server', () => {
    const escapement = createEscapement()
    const without = OPERATION_LIST.filter(([id]) => !hasCall(escapement, id))
    expect(without.map(([id]) => id)).toEqual(
      OPERATION_LIST.filter(([, { http, serverOnly }]) => http === true || serverOnly === true).map(([id]) => id),
    )
    expect(OPERATION_LIST.filter(([, one]) => isStream(one) && one.http !== true)).toEqual([])
  })

  it('has a command, or a reason to have none', () => {
    const without = OPERATION_LIST.map(([id]) => id).filter((id) => !hasCommand(id))
    expect(without.toSorted()).toEqual(Object.keys(WITHOUT_COMMAND).toSorted())
  })
})
