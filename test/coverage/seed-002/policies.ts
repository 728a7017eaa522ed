import { expect } from 'vitest'
import type { RunView } from '../../../src/features/runs/schema.ts'
import { makeAndLeave, MINUTE, missSeconds, setBack } from '../../scenarios/downtime.ts'
import { eventually, inShort, nothingFor, runsWhen } from '../../scenarios/support.ts'
import type { World as OwnServers } from '../../http-scenarios/world.ts'
import { createSchedule, inState, NEVER, once, onceAlone, runNow, scheduleRunOf } from '../experiment.ts'
import type { Row } from '../row.ts'
import { failed } from './experiments.ts'

/** A failing run of a schedule, with its first wait, under this policy. */
const firstWait = (retry_policy?: object) =>
  once(async (world) => {
    const agent = await world.agent()
    agent.respond((_, response) => response.writeHead(503).end())
    const { id } = await createSchedule(world, { ...NEVER, agent_id: agent.id, retry_policy })
    const runId = await runNow(world, id)
    await inState(world, runId, 'waiting')
    const { not_before, attempts } = await scheduleRunOf(world, runId)
    await world.post(`/api/v1/runs/${runId}/cancel`)
    return Date.parse(not_before ?? '') - Date.parse(attempts[0]?.finished_at ?? '')
  })

const ladderWait = firstWait({ strategy: 'ladder' })
const usualWait = firstWait()

const areOver = (runs: readonly RunView[]): boolean =>
  runs.length >= 3 && runs.every(({ finished_at }) => finished_at !== null)

/** Three seconds missed by a server that was away, and three days missed by a plan of every five minutes. */
const outages = onceAlone(async (servers) => {
  const { ids } = await missSeconds(servers, 3, [{}, { misfire_policy: 'FIRE_NOW' }])
  const newest = Math.floor((Date.now() - 2 * MINUTE) / MINUTE) * MINUTE
  const cron = `${new Date(newest).getUTCMinutes() % 5}-59/5 * * * *`
  const [long = ''] = await makeAndLeave(servers, [{ cron, timezone: 'UTC', misfire_policy: 'FIRE_NOW' }])
  await setBack(servers, long, newest - 3 * 24 * 60 * MINUTE)
  const node = await servers.start({ agents: { worker: () => 'done' }, schedules: { catchup_spacing_ms: 20 } })
  const shown: (readonly string[])[] = []
  for (const id of [...ids, long]) {
    const runs = await runsWhen(node, id, areOver)
    shown.push(runs.map((run) => (run.status === 'success' ? run.trigger : inShort(run))))
  }
  const gap = await node.schedules.explain(long, { at: newest - 24 * 60 * MINUTE })
  const { body } = await node.raw('GET', '/api/v1/config')
  return { usual: shown[0], all: shown[1], long: shown[2], gap, config: JSON.stringify(body) }
})

/** How much of what a change of the database alone made due a server with this scan period finds. */
const foundEvery = async (servers: OwnServers, poll_ms: number): Promise<number> => {
  const node = await servers.start({ agents: { worker: () => 'HEARTBEAT_OK' }, schedules: { poll_ms } })
  await node.client.heartbeat.set('worker', { checklist: { text: '- Disk?' }, target: 'none' })
  await servers.database.outside('update escapement.heartbeat set next_at = now(), due_at = now()')
  const found = async (): Promise<number> => (await node.client.heartbeat.log('worker')).items.length
  if (poll_ms < 1_000) await eventually(async () => expect(await found()).toBe(1))
  // Longer than the usual second between two scans.
  else await nothingFor(2_000)
  const count = await found()
  await node.stop()
  return count
}

const scans = onceAlone(async (servers) => ({
  often: await foundEvery(servers, 100),
  seldom: (await foundEvery(servers, 600_000)) - 1,
}))

/** Scan, retries, catch-up and concurrency: lines 107 to 115. */
export const POLICIES: readonly Row[] = [
  {
    line: '107',
    says: 'The scan period can be tuned.',
    check: async (world) => expect(await scans(world)).toEqual({ seldom: 0, often: 1 }),
  },
  {
    line: '108',
    says: 'Nothing is triggered twice: an idempotent `job_run_id` and a unique index.',
    shownBy: [
      'test/scenarios/nodes.test.ts',
      '31: two nodes on one database › an every-second cron: exactly one run per second',
    ],
  },
  {
    line: '109',
    says: 'Retries follow the ladder of 30, 60, 300, 900 and 3600 s.',
    check: async (world) => {
      const { retry_policy } = await createSchedule(world, { ...NEVER, retry_policy: { strategy: 'ladder' } })
      expect(retry_policy).toMatchObject({ ladder_seconds: [30, 60, 300, 900, 3_600], max_retries: 5 })
      expect(Math.abs((await ladderWait(world)) - 30_000)).toBeLessThan(1_000)
    },
  },
  {
    line: '109',
    says: 'The ladder is the retry of schedules by default.',
    differs:
      'Retries wait 2, 4 and 8 s by default, and the ladder is `strategy: ladder`: one has to be the default (D8).',
    check: async (world) => {
      const wait = await usualWait(world)
      expect(wait).toBeGreaterThanOrEqual(1_400)
      expect(wait).toBeLessThan(3_500)
    },
  },
  {
    line: '109',
    says: 'The largest number of retries can be configured.',
    check: async (world) => expect((await failed(world)).run.attempts).toHaveLength(3),
  },
  {
    line: '111',
    says: 'After a short outage, what was missed is made up for.',
    check: async (world) => {
      const { usual = [] } = await outages(world)
      expect(usual.at(-1)).toMatch(/^(?:schedule|catchup)$/)
    },
  },
  {
    line: '111',
    says: 'The window of catch-up is 15 minutes.',
    check: async (world) => {
      const { long = [], config } = await outages(world)
      expect(config).toContain('schedules.catchup_window_seconds')
      // Every five minutes: three moments in a quarter of an hour.
      expect(long.filter((word) => word === 'catchup')).toHaveLength(3)
    },
  },
  {
    line: '111',
    says: 'All of the window is made up for.',
    differs: 'By default only the newest one, because one late report is enough; `misfire_policy: FIRE_NOW` gives all.',
    check: async (world) => {
      const { usual = [], all = [] } = await outages(world)
      expect(usual.slice(0, 2)).toEqual(['skipped/misfire', 'skipped/misfire'])
      expect(all.filter((word) => word.startsWith('skipped'))).toEqual([])
    },
  },
  {
    line: '112',
    says: 'After a long outage the history is not replayed.',
    check: async (world) => {
      const { long, gap } = await outages(world)
      expect(long).toHaveLength(3)
      expect(gap).toMatchObject({ reason: 'misfire', run_id: null })
    },
  },
  {
    line: '114',
    says: 'An org has a limit of concurrent runs.',
    shownBy: [
      'test/features/database/orgs.test.ts',
      'the limits of an org › hold for runs at the same time, on every node, from the next turn on',
    ],
  },
  {
    line: '115',
    says: 'A schedule has a limit of concurrent runs, 1 by default.',
    check: async (world) => {
      const agent = await world.agent()
      agent.hold()
      const { id, max_concurrency } = await createSchedule(world, { ...NEVER, agent_id: agent.id })
      expect(max_concurrency).toBe(1)
      const first = await runNow(world, id)
      const second = await runNow(world, id)
      await inState(world, first, 'running')
      expect(await world.server.runs.explain(second)).toMatchObject({ reason: 'schedule_limit' })
      agent.release()
      await world.ended(second)
      expect(agent.most()).toBe(1)
    },
  },
]
