import { Client } from 'pg'
import { describe, expect } from 'vitest'
import { createClient } from '../../src/client/client.ts'
import type { AlertView } from '../../src/features/alerts/schema.ts'
import { clientConfig } from '../../src/platform/db/postgres/target.ts'
import { json, startPeer, type Peer } from '../platform/outbound/peer.ts'
import { scenario, type Remote, type World } from '../http-scenarios/world.ts'
import { ended, eventually } from '../scenarios/support.ts'

interface Envelope {
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
}

const told = ({ heard }: Peer): readonly Envelope[] => heard.map(({ body }) => JSON.parse(body) as Envelope)
const kindsTold = (peer: Peer): readonly string[] =>
  told(peer).map(({ type, data }) => `${type} ${String(data['kind'])}`)

/** A receiver that the operator lets the server call, gone with the test. */
async function withReceiver(play: (receiver: Peer, allowed: object) => Promise<void>): Promise<void> {
  const receiver = await startPeer((_, response) => json(response, 200, {}))
  try {
    await play(receiver, { outbound: { allow_hosts: [`127.0.0.1:${receiver.port}`] } })
  } finally {
    await receiver.close()
  }
}

const alertsOf = async (node: Remote, filter: object = {}): Promise<readonly AlertView[]> =>
  (await node.client.alerts.list(filter)).items

/** Follows alerts on the stream of events, until the given number was told. */
async function follow(node: Remote, count: number): Promise<{ readonly heard: Promise<readonly string[]> }> {
  const found: string[] = []
  let heard: Promise<readonly string[]> = Promise.resolve(found)
  await new Promise<void>((opened) => {
    heard = (async () => {
      const filter = { kinds: ['alert.raised', 'alert.cleared'] } as const
      for await (const event of createClient({ url: node.url, key: node.key }).events(filter, { onOpen: opened })) {
        if (event.kind === 'reset') continue
        found.push(`${event.kind} ${String(event.data['kind'])}`)
        if (found.length === count) break
      }
      return found
    })()
  })
  return { heard }
}

describe.concurrent('40: failures in a row, over HTTP', () => {
  scenario('three raise one alert, a success clears it, three more raise a second; each is sent', async (world) => {
    await withReceiver(async (receiver, allowed) => {
      let fails = true
      const worker = (): string => {
        if (fails) throw new Error('no')
        return 'yes'
      }
      const node = await world.start({ agents: { worker }, ...allowed })
      const target = await node.client.targets.create({ name: 'ops', url: receiver.url, alerts: true })
      await node.client.targets.create({ name: 'other', url: `${receiver.url}/never` })
      const made = await node.schedules.create({
        ...{ name: 'Nightly', agent_id: 'worker', cron: '0 0 1 1 *', retry_policy: { max_retries: 0 } },
      })
      expect(made).toMatchObject({ alert_after: null, max_lateness_seconds: null, alerts: [] })
      const { heard } = await follow(node, 3)
      const runs = async (word: string): Promise<void> => {
        for (const letter of word) {
          fails = letter === 'f'
          const { run_id: id = '' } = await node.schedules.runNow(made.id)
          await ended(node, id)
        }
      }
      await runs('ff')
      expect(await alertsOf(node)).toEqual([])
      await runs('ff')
      const [first, ...more] = await alertsOf(node, { kind: 'failures_in_a_row', subject_id: made.id })
      expect(more).toEqual([])
      expect(first).toMatchObject({ status: 'open', subject_kind: 'schedule', cleared_at: null })
      expect(first?.why).toMatchObject({ reason: 'failure_streak', evidence: { streak: 3, alert_after: 3 } })
      expect((await node.schedules.get(made.id)).alerts).toEqual(['failures_in_a_row'])
      await runs('s')
      expect((await node.schedules.get(made.id)).alerts).toEqual([])
      expect(await alertsOf(node, { status: 'cleared' })).toMatchObject([
        { id: first?.id, status: 'cleared', cleared_why: { reason: 'failure_streak_over' } },
      ])
      await runs('fff')
      expect((await alertsOf(node, { status: 'open' })).map(({ id }) => id)).not.toContain(first?.id)
      expect(await alertsOf(node)).toHaveLength(2)
      expect(await heard).toEqual([
        'alert.raised failures_in_a_row',
        'alert.cleared failures_in_a_row',
        'alert.raised failures_in_a_row',
      ])
      await eventually(() => expect(receiver.heard).toHaveLength(3))
      expect([...kindsTold(receiver)].toSorted()).toEqual([
        'alert.cleared failures_in_a_row',
        'alert.raised failures_in_a_row',
        'alert.raised failures_in_a_row',
      ])
      const sent = (await node.client.deliveries.list({ target_id: target.id })).items
      expect(sent.every(({ run_id, alert_id }) => run_id === null && alert_id !== null)).toBe(true)
      // A schedule that goes takes its alert with it.
      await node.schedules.delete(made.id)
      expect(await alertsOf(node, { status: 'open' })).toEqual([])
    })
  })

  scenario('`alert_after` is the schedule’s own; what makes no sense is refused by name', async (world) => {
    const node = await world.start({ agents: { worker: () => Promise.reject(new Error('no')) } })
    const timing = { agent_id: 'worker', cron: '0 0 1 1 *', retry_policy: { max_retries: 0 } }
    const refused = await node.raw('POST', '/api/v1/schedules', {
      body: { ...timing, alert_after: 0, max_lateness_seconds: -1 },
    })
    expect([refused.status, JSON.stringify(refused.body['errors'])]).toEqual([
      400,
      expect.stringContaining('/alert_after'),
    ])
    expect(JSON.stringify(refused.body['errors'])).toContain('/max_lateness_seconds')
    expect((await node.raw('GET', '/api/v1/alerts?kind=unheard')).status).toBe(400)
    const made = await node.schedules.create({ ...timing, alert_after: 1 })
    const { run_id: id = '' } = await node.schedules.runNow(made.id)
    await ended(node, id)
    expect(await alertsOf(node)).toMatchObject([{ kind: 'failures_in_a_row', subject_id: made.id }])
  })
})

describe.concurrent('late and missed occurrences', () => {
  scenario('a run that starts too late raises one alert, and one in time clears it', async (world) => {
    const node = await world.start({ agents: { worker: () => 'done' } })
    const made = await node.schedules.create({ agent_id: 'worker', every_seconds: 1, max_lateness_seconds: 0 })
    const late = await eventually(async () => {
      const [found] = await alertsOf(node, { kind: 'late' })
      expect(found).toBeDefined()
      return found
    })
    expect(late).toMatchObject({ subject_id: made.id, why: { reason: 'run_late', rule: 'max_lateness_seconds' } })
    await node.schedules.update(made.id, { max_lateness_seconds: 3_600 })
    const cleared = { id: late?.id, cleared_why: { reason: 'run_in_time' } }
    await eventually(async () => expect(await alertsOf(node, { kind: 'late' })).toMatchObject([cleared]))
  })

  scenario('a run that still waits beyond its limit is told before it starts', async (world) => {
    const node = await world.start({
      ...{ agents: { worker: () => new Promise((resolve) => setTimeout(resolve, 60_000)) }, lanes: { cron: 1 } },
    })
    const busy = await node.schedules.create({ agent_id: 'worker', cron: '0 0 1 1 *' })
    await node.schedules.runNow(busy.id)
    const made = await node.schedules.create({
      ...{ agent_id: 'worker', every_seconds: 60, anchor: new Date(Date.now() - 59_000).toISOString() },
      max_lateness_seconds: 1,
    })
    await eventually(async () =>
      expect(await alertsOf(node, { kind: 'late' })).toMatchObject([{ subject_id: made.id }]),
    )
    expect((await node.schedules.runs(made.id)).items[0]?.started_at).toBeNull()
  })

  scenario('an occurrence that nothing makes up for raises one alert, and one in time clears it', async (world) => {
    const before = await world.start({ agents: { worker: () => 'done' } })
    const anHourAgo = new Date(Date.now() - 3_600_000).toISOString()
    const made = await before.schedules.create({
      ...{ agent_id: 'worker', every_seconds: 2, anchor: anHourAgo, misfire_policy: 'SKIP' },
    })
    await before.schedules.disable(made.id)
    await before.stop()
    await world.database.outside(
      `update escapement.schedule set state = 'active', watermark = watermark - interval '10 minutes',
         next_run_at = next_run_at - interval '10 minutes'`,
    )
    await world.database.outside(
      `update escapement.schedule set next_run_at = watermark + interval '1 second' where next_run_at is null`,
    )
    const after = await world.start({ agents: { worker: () => 'done' } })
    const [alert] = await eventually(async () => {
      const found = await alertsOf(after, { kind: 'occurrence_missed' })
      expect(found).toHaveLength(1)
      return found
    })
    expect(alert).toMatchObject({ subject_id: made.id, why: { reason: 'occurrence_missed' } })
    const cleared = { id: alert?.id, cleared_why: { reason: 'occurrence_in_time' } }
    await eventually(async () => expect((await alertsOf(after)).at(-1)).toMatchObject(cleared))
  })
})

/** Locks the schedules, as a transaction that hangs in the middle of maintenance would: nothing can be found due. */
async function holdLock(world: World): Promise<() => Promise<void>> {
  const client = new Client(clientConfig(world.database.target))
  await client.connect()
  await client.query('begin; lock table schedule in access exclusive mode')
  return () => client.end()
}

const readyOf = async (node: Remote): Promise<string> => {
  const { status, body } = await node.raw('GET', '/ready', { key: '' })
  return `${status} ${String(body['engine'])}`
}

const stalls = (node: Remote): Promise<readonly AlertView[]> => alertsOf(node, { kind: 'engine_stalled' })

describe.concurrent('40: an engine that stands still', () => {
  scenario('because of a lock raises one alert, sends it meanwhile, is not ready, and clears', async (world) => {
    await withReceiver(async (receiver, allowed) => {
      const node = await world.start({ agents: { worker: () => 'done' }, ...allowed })
      await node.client.targets.create({ name: 'ops', url: receiver.url, alerts: true })
      await node.schedules.create({ agent_id: 'worker', every_seconds: 1 })
      expect(await readyOf(node)).toBe('200 up')
      const release = await holdLock(world)
      let open: AlertView | undefined
      try {
        await eventually(() => expect(receiver.heard).toHaveLength(1))
        expect(kindsTold(receiver)).toEqual(['alert.raised engine_stalled'])
        expect(await readyOf(node)).toBe('503 stalled')
        const [found, ...more] = await stalls(node)
        expect([found?.status, found?.subject_kind, more]).toEqual(['open', 'node', []])
        open = found
      } finally {
        await release()
      }
      await eventually(async () =>
        expect(await stalls(node)).toMatchObject([{ id: open?.id, cleared_why: { reason: 'engine_scans' } }]),
      )
      expect(await readyOf(node)).toBe('200 up')
      const about = (): readonly string[] => kindsTold(receiver).filter((word) => word.endsWith('engine_stalled'))
      await eventually(() => expect(about()).toEqual(['alert.raised engine_stalled', 'alert.cleared engine_stalled']))
    })
  })
})
