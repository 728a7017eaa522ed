import { describe, expect } from 'vitest'
import type { DeliveryView } from '../../src/features/deliveries/schema.ts'
import type { TargetInput, TargetView } from '../../src/features/targets/schema.ts'
import { scenario, type Remote } from '../http-scenarios/world.ts'
import { json, startPeer } from '../platform/outbound/peer.ts'
import { ended, eventually } from '../scenarios/support.ts'
import { startMailPeer, type MailPeer } from './mail-server.ts'

const mailing = (peer: MailPeer): object => ({
  smtp: { host: '127.0.0.1', port: peer.port, from: 'Escapement <escapement@example.com>' },
})

async function withMail(play: (peer: MailPeer) => Promise<void>): Promise<void> {
  const peer = await startMailPeer()
  try {
    await play(peer)
  } finally {
    await peer.close()
  }
}

const target = (node: Remote, more: Partial<TargetInput> = {}): Promise<TargetView> =>
  node.client.targets.create({ name: 'ops', kind: 'email', settings: { to: ['ops@example.com'] }, ...more })

/** Runs a schedule that delivers to the target, and waits until it has ended. */
async function runFor(node: Remote, target_id: string, name = 'Nightly report'): Promise<string> {
  const made = await node.schedules.create({
    ...{ name, agent_id: 'worker', cron: '0 0 1 1 *', payload: name, delivery: { target_id } },
    retry_policy: { max_retries: 0 },
  })
  const { run_id: id = '' } = await node.schedules.runNow(made.id)
  await ended(node, id)
  return id
}

const deliveryOf = async (node: Remote, run: string): Promise<DeliveryView> => {
  const [found] = (await node.client.deliveries.list({ run_id: run })).items
  if (found === undefined) throw new Error(`nothing is delivered for ${run}`)
  return found
}

const until = (node: Remote, run: string, status: DeliveryView['status']): Promise<DeliveryView> =>
  eventually(async () => {
    const found = await deliveryOf(node, run)
    expect([found.status, found.sentence]).toEqual([status, expect.anything()])
    return found
  })

describe.concurrent('mail', () => {
  scenario('goes through a server that fails and then recovers, under one Message-ID', async (world) => {
    await withMail(async (peer) => {
      const worker = ({ payload }: { readonly payload: unknown }): string => {
        if (JSON.stringify(payload).includes('Broken')) throw new Error('no such table')
        return 'All is well – 3 orders.'
      }
      const node = await world.start({ agents: { worker }, ...mailing(peer) })
      const ops = await target(node, {
        settings: { to: ['ops@example.com', 'boss@example.com'], subject_prefix: '[ops]' },
      })
      expect(ops).toMatchObject({ kind: 'email', url: null, alerts: false, quiet_hours: null })
      const tested = await node.client.targets.test(ops.id)
      expect([tested.delivered, tested.status_code]).toEqual([true, 250])
      expect(peer.mails[0]?.headers['subject']).toBe('[ops] Test message')

      peer.refuseWith({ code: 451, words: 'come back later' })
      const run = await runFor(node, ops.id)
      const waiting = await eventually(async () => {
        const found = await deliveryOf(node, run)
        expect(found.tries).toHaveLength(1)
        return found
      })
      expect(waiting.status).toBe('pending')
      expect(waiting.tries[0]).toMatchObject({ delivered: false, status_code: 451, error_code: 'smtp' })
      expect(waiting.tries[0]?.message).toContain('come back later')
      expect(await node.client.targets.get(ops.id)).toMatchObject({ failures_in_a_row: 1, enabled: true })

      peer.refuseWith(null)
      await node.client.deliveries.retry(waiting.id)
      const arrived = await until(node, run, 'delivered')
      expect(arrived.tries.map(({ delivered }) => delivered)).toEqual([false, true])
      const mail = peer.mails[1]
      expect(mail).toMatchObject({ from: 'escapement@example.com', to: ['ops@example.com', 'boss@example.com'] })
      expect(mail?.headers).toMatchObject({
        'message-id': `<${arrived.message_id}@example.com>`,
        subject: '[ops] Nightly report succeeded',
        'auto-submitted': 'auto-generated',
      })
      expect(peer.refused).toEqual([mail?.headers['message-id']])
      expect(mail?.text).toContain('All is well – 3 orders.')
      expect(mail?.text).toContain(`run ${run}`)

      await until(node, await runFor(node, ops.id, 'Broken report'), 'delivered')
      expect(peer.mails[2]?.headers['subject']).toBe('[ops] Broken report failed')
      expect(peer.mails[2]?.text).toContain('no such table')
    })
  })

  scenario('that nobody can send, or that goes nowhere, is refused by name and kept nowhere', async (world) => {
    const node = await world.start({ agents: { worker: () => 'done' } })
    const refuse = async (body: object): Promise<string> => {
      const { status, body: answer } = await node.raw('POST', '/api/v1/targets', { body })
      return `${status} ${JSON.stringify(answer['errors'])}`
    }
    const mail = { name: 'ops', kind: 'email' }
    expect(await refuse({ ...mail, settings: { to: 'ops@example.com' } })).toMatch(/^400 .*\/kind.*smtp\.host/)
    expect(await refuse(mail)).toMatch(/^400 .*\/settings\/to.*is missing/)
    expect(await refuse({ ...mail, settings: { to: ['a@b.c', 'x@y\r\nBcc: z@z'] } })).toMatch(
      /^400 .*\/settings\/to\/1/,
    )
    expect(await refuse({ ...mail, settings: { to: 'a@b.c', subject_prefix: 'a\nb' } })).toContain('/subject_prefix')
    expect(await refuse({ ...mail, settings: { to: 'a@b.c' }, url: 'https://x.y' })).toMatch(/^400 .*\/url/)
    expect(await refuse({ ...mail, kind: 'emial', settings: {} })).toContain('did you mean email?')
    expect(await refuse({ name: 'x', url: 'https://x.example', settings: { to: 'a@b.c' } })).toContain('/settings')
    const hours = { start: '22:00', end: '22:00', timezone: 'UTC' }
    expect(await refuse({ name: 'x', url: 'https://x.example', quiet_hours: hours })).toContain('/quiet_hours')
    expect((await node.client.targets.list({})).items).toEqual([])
  })
})

const ALWAYS = { start: '00:00', end: '24:00', timezone: 'UTC' } as const

describe.concurrent('quiet hours', () => {
  scenario('collect into one mail, in order, alerts too; what a person asks for goes at once', async (world) => {
    await withMail(async (peer) => {
      const worker = ({ payload }: { readonly payload: unknown }): string => {
        if (JSON.stringify(payload).includes('Third')) throw new Error('it broke')
        return `result of ${JSON.stringify(payload)}`
      }
      const node = await world.start({ agents: { worker }, alerts: { failures_in_a_row: 1 }, ...mailing(peer) })
      const ops = await target(node, { quiet_hours: ALWAYS, alerts: true })
      const runs: string[] = []
      for (const name of ['First', 'Second', 'Third']) {
        runs.push(await runFor(node, ops.id, name))
        await until(node, runs.at(-1) ?? '', 'held')
      }
      const [first = '', second = ''] = runs
      const held = await until(node, first, 'held')
      expect(held).toMatchObject({ why: { reason: 'quiet_hours', rule: 'target.quiet_hours' }, tries: [] })
      expect(held.next_try_at).toMatch(/T00:00:00\.000Z$/)
      const waiting = { target_id: ops.id, status: 'held' }
      await eventually(async () => expect((await node.client.deliveries.list(waiting)).items).toHaveLength(4))
      expect(await node.client.targets.get(ops.id)).toMatchObject({ held: 4 })
      expect(peer.mails).toEqual([])

      await node.client.deliveries.retry((await deliveryOf(node, second)).id)
      await until(node, second, 'delivered')
      expect(peer.mails.map(({ headers }) => headers['subject'])).toEqual(['Second succeeded'])

      await node.client.targets.update(ops.id, { quiet_hours: null })
      const sent = await until(node, first, 'delivered')
      expect(peer.mails).toHaveLength(2)
      expect(peer.mails[1]?.headers['subject']).toBe('3 messages from quiet hours')
      // A run and the alert it raises are of the same moment.
      expect(peer.mails[1]?.text).toMatch(/1\. First succeeded[^]*2\. [^]*3\. /)
      for (const words of ['Third failed', 'it broke', 'Alert: failures in a row: Third'])
        expect(peer.mails[1]?.text).toContain(words)
      const digest = await node.client.deliveries.get(sent.digest_id ?? '')
      expect(digest).toMatchObject({ digest: true, status: 'delivered', run_id: null, target_id: ops.id })
      expect(peer.mails[1]?.headers['message-id']).toBe(`<${digest.message_id}@example.com>`)
    })
  })

  scenario('of a webhook: one digest as JSON, and a member of it is not sent by itself', async (world) => {
    let isUp = false
    const receiver = await startPeer((_, response) => json(response, isUp ? 200 : 500, {}))
    try {
      const node = await world.start({
        ...{ agents: { worker: () => 'done' }, outbound: { allow_hosts: [`127.0.0.1:${receiver.port}`] } },
      })
      const hook = await node.client.targets.create({ name: 'hook', url: receiver.url, quiet_hours: ALWAYS })
      const runs = [await runFor(node, hook.id, 'One'), await runFor(node, hook.id, 'Two')]
      for (const run of runs) await until(node, run, 'held')
      await node.client.targets.update(hook.id, { quiet_hours: null })
      const member = await eventually(async () => {
        const found = await deliveryOf(node, runs[0] ?? '')
        expect(found).toMatchObject({ status: 'held', why: { reason: 'in_digest' } })
        return found
      })
      const retried = await node.raw('POST', `/api/v1/deliveries/${member.id}/retry`, { body: {} })
      expect([retried.status, String(retried.body['detail'])]).toEqual([409, expect.stringContaining('digest')])
      await eventually(() => expect(receiver.heard).toHaveLength(1))
      isUp = true
      await node.client.deliveries.retry(member.digest_id ?? '')
      for (const run of runs) await until(node, run, 'delivered')
      const bodies = receiver.heard.map(({ body }) => JSON.parse(body) as { type: string; data: { items: unknown[] } })
      expect(bodies[1]).toEqual(bodies[0])
      expect(bodies[1]).toMatchObject({
        type: 'digest',
        data: { count: 2, left_out: 0, items: runs.map((id) => ({ type: 'run.completed', data: { id } })) },
      })
    } finally {
      await receiver.close()
    }
  })
})
