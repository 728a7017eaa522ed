import { describe, expect } from 'vitest'
import { createStage } from './stage.ts'
import { chat, ended, eventually, nothingFor, send } from './support.ts'
import { loneScenario, scenario, type World } from './world.ts'

const LEASE_MS = 4_000
const node = { lease_ms: LEASE_MS, renew_ms: 1_000 } as const

const attempts = (world: World): Promise<readonly Record<string, unknown>[]> =>
  world.database.outside('select run_id, number, error_code from attempt')

describe('a node that joins while another looks for lost ones', () => {
  loneScenario(
    'keeps what it has started',
    async (world) => {
      const [a, c] = [createStage(), createStage()]
      const one = await world.start({ agents: { worker: a.handler }, node })
      await one.agents.update('worker', { retry_policy: { max_retries: 3, strategy: 'fixed', base_ms: 10 } })
      // A node that is dead, and whose row somebody holds: whoever declares it lost has to wait.
      await world.database.outside(
        `insert into node (id, started_at, lease_until, executors, lanes, program, backlog)
       values ('nod_dead', now(), date_trunc('second', now()), '{}', '{}', 'test', true)`,
      )
      const blocker = await world.database.open({ pool: 1, limits: { idleInTransactionMs: 0 } })
      let release = (): void => undefined
      const released = new Promise<void>((resolve) => {
        release = resolve
      })
      const held = blocker.transaction(async (tx) => {
        await tx.query(`select 1 from node where id = 'nod_dead' for update`)
        await released
      })
      await eventually(async () => {
        // Nobody waits for it for longer than a lock is waited for, so it is looked at again and again.
        const waiting = await world.database.outside(
          `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like 'update node%set lost%'`,
        )
        expect(waiting).toHaveLength(1)
      })
      const two = await world.start({ agents: { worker: c.handler }, node })
      // The one that waits is full of other things; the joiner takes the run.
      const { run_id: id } = await send(two, chat('s'), 'work')
      await eventually(() => expect(a.acts.length + c.acts.length).toBe(1))
      await nothingFor(300)
      release()
      await held
      await eventually(async () => {
        expect(await world.database.outside(`select 1 from node where id = 'nod_dead' and lost`)).toHaveLength(1)
      })
      await nothingFor(1_500)
      expect(a.acts.length + c.acts.length).toBe(1)
      a.open()
      c.open()
      expect((await ended(two, id)).status).toBe('success')
      expect(await attempts(world)).toEqual([])
    },
    60_000,
  )
})

describe.concurrent('a server whose clock is set', () => {
  for (const step of ['-60 seconds', '+60 seconds', '-2 hours', '+2 hours'])
    scenario(
      `by ${step} as leases see it loses nobody`,
      async (world) => {
        const stage = createStage()
        const options = { agents: { worker: stage.handler }, node }
        const [one] = await Promise.all([world.start(options), world.start(options), world.start(options)])
        for (const peer of ['a', 'b', 'c', 'd']) await send(one, chat(peer), peer)
        await stage.begunMany(4)
        await world.database.outside(`update node set lease_until = lease_until + $1::interval`, [step])
        await nothingFor(LEASE_MS + 3_000)
        expect(await world.database.outside('select id from node where lost')).toEqual([])
        expect(stage.acts).toHaveLength(4)
        expect(await attempts(world)).toEqual([])
        stage.open()
      },
      60_000,
    )
})
