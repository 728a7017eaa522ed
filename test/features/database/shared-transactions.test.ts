import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { Refusal } from '../../../src/api/refusals.ts'
import type { ScheduleView } from '../../../src/features/schedules/schema.ts'
import type { Ports } from '../../../src/engine/ports.ts'
import { createSchedule, deleteSchedule } from '../../../src/features/schedules/service.ts'
import type { Command } from '../../../src/engine/commands-port.ts'
import { openNode } from './node.ts'
import { createServiceWorld, type ServiceWorld } from './world.ts'

let world: ServiceWorld

beforeAll(async () => {
  world = await createServiceWorld()
})
beforeEach(async () => {
  await world.startOver('schedule', 'idempotency', 'turn', 'node')
  await world.db.query('update org set max_schedules = null', [])
})
afterAll(() => world.drop())

/** What several callers ask for in the same breath, done in one turn. */
async function together<T>(
  calls: readonly ((ports: Ports) => Promise<T>)[],
): Promise<readonly (T | { readonly code: string })[]> {
  const handedIn: { readonly work: Command<unknown>; readonly settle: (answer: unknown) => void }[] = []
  const take = <Answer>(work: Command<Answer>): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const settle = (answer: unknown): void => {
        if (answer instanceof Refusal) reject(answer)
        else resolve(answer as Answer)
      }
      handedIn.push({ work: work as Command<unknown>, settle })
    })
  const answers = Promise.all(
    calls.map((call) =>
      call({ ...world.ports, commands: { execute: take } }).catch((error: unknown) => refusalOf(error)),
    ),
  )
  // Whoever prepares is given a turn alone, and nothing would be shared.
  expect(handedIn.map(({ work }) => work.prepare)).toEqual(calls.map(() => undefined))
  const node = await openNode(world)
  const done = await node.turn(...handedIn.map(({ work }) => work))
  for (const [index, { settle }] of handedIn.entries()) settle(done[index])
  return answers
}

function refusalOf(error: unknown): { readonly code: string } {
  if (!(error instanceof Refusal)) throw error
  return { code: error.code }
}

const creating =
  (name: string, key?: string) =>
  (ports: Ports): Promise<ScheduleView> => {
    const input = { name, every_seconds: 60 }
    const once = key === undefined ? undefined : { route: 'schedules.create', key, body: input }
    return createSchedule(ports, { ...world.caller, once }, input)
  }

const names = async (): Promise<readonly unknown[]> =>
  (await world.rows('select name from schedule order by id')).map((row) => row['name'])
const count = async (table: string): Promise<number> =>
  Number((await world.rows(`select count(*) as found from ${table}`))[0]?.['found'])

describe('schedules that are made at the same time', () => {
  it('share a turn, and one that is refused does not stop the others', async () => {
    const bad = (ports: Ports) => createSchedule(ports, world.caller, { every_seconds: 60, agent_id: 'nobody' })
    const answers = await together([creating('a'), bad, creating('b')])
    expect(answers).toMatchObject([{ name: 'a', version: 1 }, { code: 'VALIDATION' }, { name: 'b', version: 1 }])
    expect(await names()).toEqual(['a', 'b'])
    expect(await count('turn')).toBe(1)
  })

  it('end at the number that the org may have, what is deleted in the same turn making room', async () => {
    await world.db.query('update org set max_schedules = 2', [])
    const old = await createSchedule(world.ports, world.caller, { name: 'old', every_seconds: 60 })
    const removing = (ports: Ports) => deleteSchedule(ports, world.caller, { id: old.id })
    const answers = await together<unknown>([creating('a'), creating('b'), removing, creating('c'), creating('d')])
    expect(answers).toMatchObject([{ name: 'a' }, { code: 'CONFLICT' }, undefined, { name: 'c' }, { code: 'CONFLICT' }])
    expect(await names()).toEqual(['a', 'c'])
  })
})

describe('a key of requests that come at the same time', () => {
  it('is bound by the first, and the others get its answer', async () => {
    const [first, again, other] = await together([creating('a', 'k'), creating('a', 'k'), creating('a', 'k2')])
    expect(again).toEqual(first)
    expect(other).not.toEqual(first)
    expect(await names()).toEqual(['a', 'a'])
    expect(await count('idempotency')).toBe(2)
    expect(await together([creating('a', 'k')])).toEqual([first])
  })

  it('is refused with another body, in the same turn and later', async () => {
    const answers = await together([creating('a', 'k'), creating('b', 'k')])
    expect(answers).toMatchObject([{ name: 'a' }, { code: 'IDEMPOTENCY_MISMATCH' }])
    expect(await together([creating('b', 'k')])).toEqual([{ code: 'IDEMPOTENCY_MISMATCH' }])
    expect(await names()).toEqual(['a'])
  })

  it('is not bound by what is refused', async () => {
    await world.db.query('update org set max_schedules = 1', [])
    await together([creating('a'), creating('b', 'k')])
    await world.db.query('update org set max_schedules = null', [])
    expect(await together([creating('b', 'k')])).toMatchObject([{ name: 'b' }])
  })
})
