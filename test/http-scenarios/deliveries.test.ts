import { Webhook } from 'standardwebhooks'
import { beforeAll, describe, expect } from 'vitest'
import { createClient } from '../../src/client/client.ts'
import type { DeliveryView } from '../../src/features/deliveries/schema.ts'
import { CLAIM_MS } from '../../src/features/deliveries/outbox.ts'
import { json, startPeer, type Answering, type Heard, type Peer } from '../platform/outbound/peer.ts'
import { createStage } from '../scenarios/stage.ts'
import { ended, eventually, nothingFor } from '../scenarios/support.ts'
import { prepareProgram } from '../serve/support.ts'
import { scenario, type Remote, type World } from './world.ts'

const PROGRAM = 'test/http-scenarios/program.ts'

beforeAll(() => {
  prepareProgram(PROGRAM)
}, 90_000)

const fine: Answering = (_, response) => json(response, 200, {})
const worker = { worker: () => 'done' } as const

/** The server with a receiver that its operator lets it call. */
async function withReceiver(
  world: World,
  answer: Answering,
  play: (node: Remote, receiver: Peer) => Promise<void>,
): Promise<void> {
  const receiver = await startPeer(answer)
  try {
    await play(await startFor(world, receiver), receiver)
  } finally {
    await receiver.close()
  }
}

const startFor = (world: World, receiver: Peer, agents: object = worker): Promise<Remote> =>
  world.start({ agents: agents as typeof worker, outbound: { allow_hosts: [`127.0.0.1:${receiver.port}`] } })

/** A schedule that delivers to a new target. */
async function deliveringTo(
  node: Remote,
  url: string,
): Promise<{ readonly schedule: string; readonly target: string }> {
  const { id: target } = await node.client.targets.create({ name: 'ops', url })
  const { id: schedule } = await node.schedules.create({
    ...{ agent_id: 'worker', cron: '0 0 1 1 *', payload: 'go', delivery: { target_id: target } },
  })
  return { schedule, target }
}

async function runOf(node: Remote, schedule: string): Promise<string> {
  const { run_id: id = '' } = await node.schedules.runNow(schedule)
  expect(await ended(node, id)).toMatchObject({ status: 'success' })
  return id
}

const deliveryOf = async (node: Remote, run: string): Promise<DeliveryView> => {
  const { items } = await node.client.deliveries.list({ run_id: run })
  expect(items).toHaveLength(1)
  return items[0] as DeliveryView
}

const whenDelivered = (node: Remote, run: string, status = 'delivered'): Promise<DeliveryView> =>
  eventually(async () => {
    const delivery = await deliveryOf(node, run)
    expect(delivery.status).toBe(status)
    return delivery
  })

/** The deliveries that whoever listens to a schedule is told of, until one has arrived. Resolves when the stream is open. */
async function listenTo(node: Remote, schedule: string): Promise<{ readonly heard: Promise<readonly string[]> }> {
  const found: string[] = []
  let heard: Promise<readonly string[]> = Promise.resolve(found)
  await new Promise<void>((opened) => {
    const follow = async (): Promise<readonly string[]> => {
      const filter = { kinds: ['delivery.changed'], schedule_id: schedule } as const
      for await (const event of createClient({ url: node.url, key: node.key }).events(filter, { onOpen: opened })) {
        if (event.kind === 'reset') continue
        found.push(event.subject)
        if (event.data['outcome'] === 'delivered') break
      }
      return found
    }
    heard = follow()
  })
  return { heard }
}

const idOf = ({ headers }: Heard): string => String(headers['webhook-id'])
const submitted = async (node: Remote, task: object): Promise<string> => {
  const answer = await node.raw('POST', '/tasks', { body: { agentId: 'worker', action: 'click', ...task } })
  expect(answer.status).toBe(202)
  return String(answer.body['taskId'])
}

describe.concurrent('46: a delivery target that is down', () => {
  scenario('is tried again with the same id, each try is logged, and the run stays a success', (world) =>
    withReceiver(
      world,
      (_, response, n) => json(response, n === 1 ? 503 : 200, { said: n === 1 ? 'closed' : 'thanks' }),
      async (node, receiver) => {
        const { schedule, target } = await deliveringTo(node, `${receiver.url}/in`)
        const { heard } = await listenTo(node, schedule)
        const run = await runOf(node, schedule)
        const delivery = await whenDelivered(node, run)
        expect(await heard).toEqual([delivery.id, delivery.id, delivery.id])
        expect(delivery).toMatchObject({
          ...{ kind: 'target', target_id: target, run_id: run },
          tries: [
            { number: 1, delivered: false, status_code: 503, error_code: 'http' },
            { number: 2, delivered: true, status_code: 200, error_code: null },
          ],
        })
        expect(delivery.tries[0]?.message).toContain('closed')
        const [first, second, ...others] = receiver.heard
        expect(others).toEqual([])
        expect([idOf(first ?? expect.fail()), idOf(second ?? expect.fail())]).toEqual([
          ...[delivery.message_id, delivery.message_id],
        ])
        expect(first?.headers['idempotency-key']).toBe(delivery.message_id)
        expect(second?.body).toBe(first?.body)
        expect(await node.runs.get(run)).toMatchObject({ status: 'success', deliveries: [{ id: delivery.id }] })
        expect(await node.client.targets.get(target)).toMatchObject({ failures_in_a_row: 0, enabled: true })
        const lines = node.served.log().filter(({ delivery: id }) => id === delivery.id)
        expect(lines.map(({ level, msg, run: of, try: number }) => [level, msg, of, number])).toEqual([
          ['info', 'A message was not delivered', run, 1],
          ['info', 'A message was delivered', run, 2],
        ])
      },
    ),
  )

  scenario('that refuses connections is said to be unreachable, with when it is tried next', (world) =>
    withReceiver(world, fine, async (node, receiver) => {
      const { schedule } = await deliveringTo(node, `${receiver.url}/in`)
      await receiver.close()
      const run = await runOf(node, schedule)
      const delivery = await eventually(async () => {
        const seen = await deliveryOf(node, run)
        expect(seen.tries).toHaveLength(1)
        return seen
      })
      expect(delivery).toMatchObject({
        ...{ status: 'pending', why: { reason: 'delivery_retry' } },
        tries: [{ delivered: false, status_code: null, error_code: 'network' }],
      })
      const waitMs = Date.parse(delivery.next_try_at ?? '') - Date.parse(delivery.tries[0]?.finished_at ?? '')
      expect(waitMs).toBeGreaterThan(3_000)
      expect(waitMs).toBeLessThan(8_000)
    }),
  )

  scenario('that hangs is given 10 s', (world) =>
    withReceiver(
      world,
      () => undefined,
      async (node, receiver) => {
        const { schedule } = await deliveringTo(node, `${receiver.url}/in`)
        const run = await runOf(node, schedule)
        const delivery = await eventually(async () => {
          const seen = await deliveryOf(node, run)
          expect(seen.tries).toHaveLength(1)
          return seen
        }, 40_000)
        expect(delivery.tries).toMatchObject([{ delivered: false, status_code: null, error_code: 'timeout' }])
        expect(delivery.tries[0]?.duration_ms).toBeGreaterThanOrEqual(9_990)
        expect(receiver.dropped()).toBe(1)
      },
    ),
  )

  scenario('ten times in a row is disabled with an alert; what is held arrives once it is enabled', async (world) => {
    let open = false
    await withReceiver(
      world,
      (_, response) => json(response, open ? 200 : 500, {}),
      async (node, receiver) => {
        const { schedule, target } = await deliveringTo(node, `${receiver.url}/in`)
        const runs: string[] = []
        for (let index = 0; index < 10; index += 1) runs.push(await runOf(node, schedule))
        await eventually(async () => {
          expect(await node.client.targets.get(target)).toMatchObject({ enabled: false, held: 10 })
        })
        expect(await node.client.alerts.list({ status: 'open' })).toMatchObject({
          items: [{ kind: 'delivery_disabled', subject_id: target }],
        })
        expect(await node.schedules.get(schedule)).toMatchObject({ delivery_disabled: true })
        runs.push(await runOf(node, schedule))
        expect((await deliveryOf(node, runs[10] ?? '')).status).toBe('held')
        open = true
        const before = receiver.heard.length
        expect(await node.client.targets.enable(target)).toMatchObject({ enabled: true, released: 11 })
        for (const run of runs) await whenDelivered(node, run)
        const arrived = receiver.heard.slice(before).map(idOf)
        expect(new Set(arrived).size).toBe(11)
        expect(arrived).toHaveLength(11)
        expect(await node.client.alerts.list({ status: 'open' })).toMatchObject({ items: [] })
      },
    )
  })
})

describe.concurrent('a webhook', () => {
  scenario('is signed so that an independent verifier accepts it, also while the secret is being changed', (world) =>
    withReceiver(world, fine, async (node, receiver) => {
      const { schedule } = await deliveringTo(node, `${receiver.url}/in`)
      const { secret: old } = await node.client.targets.signingSecret()
      const rotated = await node.client.targets.rotateSecret()
      expect(rotated.secret).not.toBe(old)
      await whenDelivered(node, await runOf(node, schedule))
      const { body, headers } = receiver.heard[0] ?? expect.fail()
      for (const secret of [old, rotated.secret])
        expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toMatchObject({
          ...{ type: 'run.completed', data: { status: 'success', output: 'done' } },
        })
      const stranger = `whsec_${Buffer.from('not the secret of the org').toString('base64')}`
      expect(() => new Webhook(stranger).verify(body, headers as Record<string, string>)).toThrow()
      expect(() => new Webhook(old).verify(`${body} `, headers as Record<string, string>)).toThrow()
    }),
  )

  scenario('can be tried out, and that counts for nothing', (world) =>
    withReceiver(
      world,
      (_, response, n) => json(response, n === 1 ? 204 : 418, {}),
      async (node, receiver) => {
        const { id } = await node.client.targets.create({ name: 'ops', url: `${receiver.url}/in` })
        expect(await node.client.targets.test(id)).toMatchObject({ delivered: true, status_code: 204 })
        expect(await node.client.targets.test(id)).toMatchObject({
          delivered: false,
          status_code: 418,
          error_code: 'http',
        })
        expect(await node.client.targets.get(id)).toMatchObject({ failures_in_a_row: 0, last_failed_at: null })
        const { body, headers } = receiver.heard[0] ?? expect.fail()
        const { secret } = await node.client.targets.signingSecret()
        expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toMatchObject({
          type: 'target.test',
        })
      },
    ),
  )
})

describe.concurrent('36: the callback of a task', () => {
  scenario('comes once when a running task is cancelled, with the task as everybody reads it', async (world) => {
    const receiver = await startPeer(fine)
    const stage = createStage()
    try {
      const node = await startFor(world, receiver, { worker: stage.handler })
      const id = await submitted(node, { callbackUrl: `${receiver.url}/done`, params: { x: 1 } })
      await eventually(async () => {
        expect((await node.raw('GET', `/tasks/${id}`)).body['state']).toBe('running')
      })
      expect((await node.raw('POST', `/tasks/${id}/cancel`)).status).toBe(200)
      await eventually(() => {
        expect(receiver.heard).toHaveLength(1)
      })
      const { body, headers } = receiver.heard[0] ?? expect.fail()
      expect(headers).toMatchObject({ 'x-pinchtab-event': 'task.completed', 'x-pinchtab-task-id': id })
      expect(JSON.parse(body)).toMatchObject({ taskId: id, state: 'cancelled', params: { x: 1 } })
      const { secret } = await node.client.targets.signingSecret()
      expect(() => new Webhook(secret).verify(body, headers as Record<string, string>)).not.toThrow()
      await whenDelivered(node, id)
      expect((await node.raw('POST', `/tasks/${id}/cancel`)).status).toBe(409)
      await nothingFor(1_500)
      expect(receiver.heard).toHaveLength(1)
    } finally {
      await receiver.close()
    }
  })

  scenario('has the whole of a long result, and none comes for a task without one', (world) =>
    withReceiver(world, fine, async (node, receiver) => {
      const other = await startFor(world, receiver, { worker: () => 'é'.repeat(200_000) })
      await node.stop()
      await submitted(other, {})
      const id = await submitted(other, { callbackUrl: `${receiver.url}/done` })
      await whenDelivered(other, id)
      expect(receiver.heard).toHaveLength(1)
      const { result } = JSON.parse(receiver.heard[0]?.body ?? '') as { readonly result: string }
      expect(result).toBe('é'.repeat(200_000))
    }),
  )
})

describe.concurrent('37: a callback that must not be called', () => {
  scenario('is refused when the task is handed in, and nothing is stored', async (world) => {
    const node = await world.start({ agents: worker })
    for (const callbackUrl of [
      'http://127.0.0.1:1/x',
      'http://169.254.169.254/',
      'ftp://example.com/',
      'http://u:p@example.com/',
      node.url,
    ]) {
      const answer = await node.raw('POST', '/tasks', { body: { agentId: 'worker', action: 'click', callbackUrl } })
      expect([answer.status, answer.body['code']], callbackUrl).toEqual([400, 'error'])
    }
    expect(await node.raw('GET', '/tasks')).toMatchObject({ body: { count: 0 } })
    const target = await node.raw('POST', '/api/v1/targets', { body: { name: 'x', url: 'http://10.0.0.1/' } })
    expect([target.status, target.body['code']]).toEqual([400, 'VALIDATION'])
    expect(target.body['errors']).toMatchObject([{ pointer: '/url' }])
  })

  scenario('is not followed where the guard does not let it go', async (world) => {
    const inside = await startPeer(fine)
    try {
      await withReceiver(
        world,
        (_, response) => {
          response.writeHead(307, { location: `${inside.url}/secret` }).end()
        },
        async (node, receiver) => {
          const id = await submitted(node, { callbackUrl: `${receiver.url}/done` })
          const delivery = await eventually(async () => {
            const seen = await deliveryOf(node, id)
            expect(seen.tries).toHaveLength(1)
            return seen
          })
          expect(delivery.tries).toMatchObject([{ delivered: false, error_code: 'refused' }])
          expect(inside.heard).toEqual([])
          expect((await node.raw('GET', `/tasks/${id}`)).body['state']).toBe('done')
        },
      )
    } finally {
      await inside.close()
    }
  })
})

describe.concurrent('deliveries of several nodes', () => {
  scenario('are each sent once, never by two at a time', async (world) => {
    let most = 0
    let together = 0
    const receiver = await startPeer(async (_, response) => {
      together += 1
      most = Math.max(most, together)
      await nothingFor(20)
      together -= 1
      json(response, 200, {})
    })
    try {
      const nodes = [await startFor(world, receiver), await startFor(world, receiver)]
      const ids = await Promise.all(
        Array.from({ length: 40 }, (_, index) =>
          submitted(nodes[index % 2] ?? expect.fail(), { callbackUrl: `${receiver.url}/done` }),
        ),
      )
      for (const id of ids) await whenDelivered(nodes[0] ?? expect.fail(), id)
      expect(receiver.heard).toHaveLength(40)
      expect(new Set(receiver.heard.map(idOf)).size).toBe(40)
      // Four of a receiver at a time; two nodes that claim in the same instant may each see the other's places free.
      expect(most).toBeLessThanOrEqual(8)
    } finally {
      await receiver.close()
    }
  })

  scenario('survive kill -9 between sending and writing it down: sent again with the same id', async (world) => {
    const held: (() => void)[] = []
    const receiver = await startPeer((_, response, n) => {
      if (n === 1) held.push(() => response.destroy())
      else json(response, 200, {})
    })
    try {
      const variables = { ESCAPEMENT_OUTBOUND_ALLOW_HOSTS: `127.0.0.1:${receiver.port}`, ESCAPEMENT_DATABASE_POOL: '4' }
      const served = world.spawn([], variables, { entry: PROGRAM })
      const dying = await world.join(served)
      const id = await submitted(dying, { callbackUrl: `${receiver.url}/done` })
      await eventually(() => {
        expect(receiver.heard).toHaveLength(1)
      })
      served.child.kill('SIGKILL')
      await served.ended
      for (const end of held) end()
      // Its claim would lapse by itself in half a minute.
      await world.database.outside(`update escapement.delivery set claimed_until = now() - interval '1 second'`)
      const next = await startFor(world, receiver)
      const delivery = await whenDelivered(next, id)
      expect(receiver.heard.map(idOf)).toEqual([delivery.message_id, delivery.message_id])
      expect(delivery.tries).toMatchObject([{ number: 1, delivered: true }])
    } finally {
      await receiver.close()
    }
  })

  scenario('is sent again at once when putting it on record failed', async (world) => {
    const times: number[] = []
    const receiver = await startPeer((_, response) => {
      times.push(performance.now())
      json(response, 200, {})
    })
    try {
      const node = await startFor(world, receiver)
      // The first record of a try is refused by the database, as by a full disk; numbers of sequences are never taken back.
      await world.database.outside(`create sequence escapement.refusals`)
      await world.database.outside(`create function escapement.refuse_first() returns trigger language plpgsql as $$
        begin
          if nextval('escapement.refusals') = 1 then raise exception 'no room'; end if;
          return new;
        end $$`)
      await world.database.outside(`create trigger refuse_first before insert on escapement.delivery_try
        for each row execute function escapement.refuse_first()`)
      const id = await submitted(node, { callbackUrl: `${receiver.url}/done` })
      const delivery = await whenDelivered(node, id)
      expect(receiver.heard.map(idOf)).toEqual([delivery.message_id, delivery.message_id])
      expect((times[1] ?? Infinity) - (times[0] ?? 0)).toBeLessThan(CLAIM_MS / 2)
    } finally {
      await receiver.close()
    }
  })
})
