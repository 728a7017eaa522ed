import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { ask, createServeWorld, logged, removeProgram, type Served, type ServeWorld } from './support.ts'

// Real processes, of which one is stopped and one does nothing but count: only others can notice that.

afterAll(removeProgram)

const VARIABLES = { ESCAPEMENT_DATABASE_POOL: '4' }

/** The alerts about engines that stand still, as the tables have them: a server that stands still answers nobody. */
const stalls = async ({ database }: ServeWorld): Promise<readonly string[]> =>
  (
    await database.outside(
      `select subject_id || case when cleared_at is null then ' open' else ' cleared' end as word
         from escapement.alert where org_id = 'default' and kind = 'engine_stalled'`,
    )
  ).map((row) => String(row['word']))

const eventually = (look: () => Promise<void>): Promise<void> => vi.waitFor(look, { timeout: 30_000, interval: 50 })

const readiness = async (served: Served): Promise<Readonly<Record<string, unknown>>> =>
  (await (await fetch(`${await served.url}/ready`)).json()) as Readonly<Record<string, unknown>>

const inWorld = (play: (world: ServeWorld) => Promise<void>) => async (): Promise<void> => {
  const world = await createServeWorld()
  try {
    await play(world)
  } finally {
    await world.end()
  }
}

describe.concurrent('a process that stands still', () => {
  it(
    'is noticed by the other of two: one alert, which clears when it goes on',
    inWorld(async (world) => {
      const [one, other] = [world.spawn([], VARIABLES), world.spawn([], VARIABLES)]
      const { node_id: stopped } = await readiness(one)
      await readiness(other)
      await eventually(async () => {
        const rows = await world.database.outside('select 1 from escapement.node where scanned_at is not null')
        expect(rows).toHaveLength(2)
      })
      one.child.kill('SIGSTOP')
      try {
        await eventually(async () => expect(await stalls(world)).toEqual([`${String(stopped)} open`]))
        const { body } = await ask(world, other, { path: '/api/v1/alerts?status=open&kind=engine_stalled' })
        expect(body['items']).toMatchObject([{ subject_kind: 'node', subject_id: stopped, status: 'open' }])
        expect(await readiness(other)).toMatchObject({ ready: true, engine: 'up' })
      } finally {
        one.child.kill('SIGCONT')
      }
      await eventually(async () => expect(await stalls(world)).toEqual([`${String(stopped)} cleared`]))
      await eventually(async () => expect(await readiness(one)).toMatchObject({ engine: 'up' }))
    }),
    90_000,
  )

  it(
    'and is alone is noticed by a thread of its own, and clears its alert when it goes on',
    inWorld(async (world) => {
      const preload = path.join(world.data, 'block.mjs')
      writeFileSync(
        preload,
        `process.on('SIGUSR2', () => { const end = Date.now() + 6000; while (Date.now() < end); })\n`,
      )
      const served = world.spawn([], { ...VARIABLES, NODE_OPTIONS: `--import ${preload}` })
      const { node_id: node } = await readiness(served)
      served.child.kill('SIGUSR2')
      const began = performance.now()
      await eventually(async () => expect(await stalls(world)).toEqual([`${String(node)} open`]))
      // It was raised while the process could not have done so itself.
      expect(performance.now() - began).toBeLessThan(6_000)
      await eventually(async () => expect(await stalls(world)).toEqual([`${String(node)} cleared`]))
      await logged(served, { msg: 'The main thread was blocked' })
    }),
    90_000,
  )
})
