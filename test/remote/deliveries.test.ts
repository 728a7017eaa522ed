import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { instant } from '../../src/domain/instant.ts'
import { run, type Ran } from '../cli/run.ts'
import { json, startPeer, type Peer } from '../platform/outbound/peer.ts'
import { eventually } from '../scenarios/support.ts'
import { createServeWorld, type ServeWorld } from '../serve/support.ts'

// Where results go, from the terminal, with a receiver that is really there.

let world: ServeWorld
let receiver: Peer
let status = 200

beforeAll(async () => {
  receiver = await startPeer((_, response) => json(response, status, {}))
  world = await createServeWorld()
  const variables = { ESCAPEMENT_OUTBOUND_ALLOW_HOSTS: `127.0.0.1:${receiver.port}` }
  await world.serve({ variables }).url
}, 60_000)
afterAll(async () => {
  await world.end()
  await receiver.close()
})

const type = (...args: readonly string[]): Promise<Ran> =>
  run(args, '', { cwd: '/', now: () => instant(Date.now()), variables: { ESCAPEMENT_DATA: world.data } })

async function ask(...args: readonly string[]): Promise<Readonly<Record<string, unknown>>> {
  const { code, stdout, stderr } = await type(...args, '--json')
  expect([code, stderr]).toEqual([0, ''])
  return JSON.parse(stdout) as Readonly<Record<string, unknown>>
}

const itemsOf = async (...args: readonly string[]): Promise<readonly Readonly<Record<string, unknown>>[]> =>
  (await ask(...args))['items'] as readonly Readonly<Record<string, unknown>>[]

describe('the way of a result', () => {
  it('from a target to a delivery that arrived', async () => {
    const url = `${receiver.url}/in`
    const made = await type('targets', 'create', '--name', 'ops', '--to', url)
    expect([made.code, made.stderr]).toEqual([0, ''])
    const [{ id = '' } = {}] = (await itemsOf('targets', 'list')) as readonly { readonly id?: string }[]
    expect(made.stdout).toContain(id)
    const tested = await type('targets', 'test', id)
    expect([tested.code, tested.stdout]).toEqual([
      0,
      expect.stringMatching(`^${id} accepted the test message with status 200 after `),
    ])

    const fields = ['--name', 'Look', '--agent', 'echo', '--cron', '0 7 * * *', '--payload', 'hello']
    const schedule = String((await ask('schedules', 'create', ...fields, '--deliver-to', id))['id'])
    expect((await type('schedules', 'get', schedule)).stdout).toMatch(new RegExp(`delivers to +${id}\n`))
    const runId = String((await ask('schedules', 'run', schedule))['run_id'])
    const delivery = await eventually(async () => {
      const [item] = await itemsOf('deliveries', 'list', '--run', runId)
      expect(item?.['status']).toBe('delivered')
      return String(item?.['id'])
    })
    const shown = await type('deliveries', 'get', delivery)
    expect(shown.stdout).toContain('status 200')
    expect((await type('runs', 'get', runId)).stdout).toContain(`${delivery}  delivered`)
    expect((await type('deliveries', 'list', '--status', 'delivered')).stdout).toContain(delivery)
    const again = await type('deliveries', 'retry', delivery)
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('was delivered and cannot be sent again')])
  })

  it('is held while its target is off, and goes on when it is enabled', async () => {
    const id = String(
      (await ask('targets', 'create', '--name', 'off', '--to', `${receiver.url}/x`, '--disabled'))['id'],
    )
    expect((await type('targets', 'get', id)).stdout).toContain('paused')
    const [{ id: schedule = '' } = {}] = (await itemsOf('schedules', 'list')) as readonly { readonly id?: string }[]
    await ask('schedules', 'update', schedule, '--deliver-to', id)
    expect((await type('schedules', 'get', schedule)).stdout).toContain('which is disabled')
    expect((await type('schedules', 'run', schedule, '--wait')).code).toBe(0)
    expect(await itemsOf('deliveries', 'list', '--target', id)).toMatchObject([{ status: 'held' }])
    const enabled = await type('targets', 'enable', id)
    expect(enabled.stdout).toBe(`${id} is enabled; sending 1 held messages.\n`)
    await eventually(async () => {
      expect(await itemsOf('deliveries', 'list', '--target', id)).toMatchObject([{ status: 'delivered' }])
    })
    const gone = await type('targets', 'delete', id)
    expect([gone.code, gone.stderr]).toEqual([1, expect.stringContaining(schedule)])
    await ask('schedules', 'update', schedule, '--unset', 'delivery')
    expect((await type('targets', 'delete', id)).code).toBe(0)
  })

  it('says what is wrong with a target that refuses, and with an address that is not called', async () => {
    status = 500
    const [{ id = '' } = {}] = (await itemsOf('targets', 'list')) as readonly { readonly id?: string }[]
    const tested = await type('targets', 'test', id)
    expect([tested.code, tested.stdout]).toEqual([
      1,
      expect.stringContaining('did not accept the test message: answered 500'),
    ])
    const refused = await type('targets', 'create', '--name', 'x', '--to', 'http://10.0.0.1/')
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('--to')])
    expect((await type('alerts', 'list')).code).toBe(0)
    expect(await itemsOf('alerts', 'list', '--status', 'open')).toEqual([])
    const secret = await type('targets', 'signing-secret')
    expect(secret.stdout).toMatch(/whsec_/)
    const rotated = await ask('targets', 'signing-secret', '--rotate')
    expect(secret.stdout).not.toContain(String(rotated['secret']))
  })

  it('has quiet hours and alerts, which are set and taken back by name', async () => {
    const fields = ['--name', 'night', '--to', `${receiver.url}/n`]
    const hours = ['--quiet-hours', '22:00-7:00@Europe/Berlin']
    const made = await ask('targets', 'create', ...fields, ...hours, '--alerts')
    const quiet = { start: '22:00', end: '07:00', timezone: 'Europe/Berlin' }
    expect(made).toMatchObject({ quiet_hours: quiet, alerts: true })
    const id = String(made['id'])
    expect((await type('targets', 'get', id)).stdout).toContain('22:00-07:00 Europe/Berlin')
    const changed = await ask('targets', 'update', id, '--quiet-hours', 'none', '--alerts', 'no')
    expect(changed).toMatchObject({ quiet_hours: null, alerts: false })
    expect((await type('targets', 'update', id, '--quiet-hours', 'at night')).code).toBe(2)
    expect((await type('targets', 'update', id, '--alerts', 'maybe')).code).toBe(2)
    const mail = await type('targets', 'create', '--name', 'm', '--kind', 'email', '--mail-to', 'ops@example.com')
    expect([mail.code, mail.stderr]).toEqual([1, expect.stringContaining('smtp.host')])
    const limits = ['--alert-after', '5', '--max-lateness', '2m']
    const schedule = await ask(
      'schedules',
      'create',
      '--name',
      'l',
      '--agent',
      'echo',
      '--cron',
      '0 7 * * *',
      ...limits,
    )
    expect(schedule).toMatchObject({ alert_after: 5, max_lateness_seconds: 120 })
    expect(await itemsOf('alerts', 'list', '--kind', 'late', '--about', String(schedule['id']))).toEqual([])
    expect((await type('alerts', 'list', '--kind', 'never')).code).toBe(1)
  })
})
