import { describe, expect } from 'vitest'
import type { Dispatch } from '../../src/executors/dispatch.ts'
import { json, startPeer } from '../platform/outbound/peer.ts'
import { chat, ended, inState, refused, send } from './support.ts'
import { scenario } from './world.ts'

describe.concurrent('an agent over HTTP, inside a program', () => {
  scenario('is called where the program allows it, and reports with its token alone: nobody listens', async (world) => {
    const told: Dispatch[] = []
    const peer = await startPeer(({ body }, response) => {
      told.push(JSON.parse(body) as Dispatch)
      json(response, 202, { async: true })
    })
    const node = await world.start({ outbound: { allow_hosts: [`127.0.0.1:${peer.port}`] } })
    await node.agents.create({ id: 'far', name: 'Far', executor: { kind: 'http', url: peer.url } })
    const { run_id: id } = await send(node, chat('s', 'far'), 'Hello')
    await inState(node, id, 'awaiting_callback')
    expect(told[0]).toMatchObject({ run_id: id, message: 'Hello' })
    expect(told[0]).not.toHaveProperty('callback_url')
    const token = told[0]?.callback_token ?? ''
    expect(await node.callbacks.settle(token, { output: 'late' })).toEqual({ status: 'success', ignored: false })
    expect(await ended(node, id)).toMatchObject({ status: 'success', output: 'late' })
    await peer.close()
  })

  scenario('is refused where the program has said nothing', async (world) => {
    const node = await world.start()
    const executor = { kind: 'http', url: 'http://127.0.0.1:9/' } as const
    await refused(node.agents.create({ name: 'Near', executor }), 'VALIDATION')
  })
})
