import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TOOLS } from '../../../src/server/mcp/tools/tools.ts'
import { OPERATIONS } from '../../../src/operations/table.ts'
import { createHttpWorld, type HttpWorld } from '../support.ts'
import { connect, HANDSHAKE, MODERN, type McpGuest } from './support.ts'

// Every tool, called by the official client, over both generations of the protocol.

let world: HttpWorld
beforeAll(async () => {
  world = await createHttpWorld()
})
afterAll(() => world.close())

describe.each([HANDSHAKE, MODERN] as const)('the tools (%s)', (revision) => {
  let guest: McpGuest
  beforeAll(async () => {
    guest = await connect(world, 'owner', revision)
  })

  it('are listed with what they take, what they answer and what a client may assume of them', async () => {
    const { tools } = await guest.client.listTools()
    expect(tools.map(({ name }) => name)).toEqual([
      ...['schedule_create', 'schedule_list', 'schedule_update', 'schedule_delete', 'schedule_preview'],
      ...['run_now', 'run_explain', 'task_submit', 'stop'],
    ])
    for (const { name, description = '', inputSchema, outputSchema, annotations } of tools) {
      expect(description.length, name).toBeGreaterThan(100)
      expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false })
      expect(outputSchema).toMatchObject({ type: 'object', additionalProperties: false })
      expect(annotations).toMatchObject(TOOLS[name as keyof typeof TOOLS].hints)
    }
    // What is listed is read by a model with every conversation.
    expect(JSON.stringify(tools).length).toBeLessThan(24_000)
  })

  it('make, show, change, run and delete a schedule', async () => {
    const made = await guest.call('schedule_create', {
      ...{ name: 'Morning mail', cron: '0 9 * * MON-FRI', timezone: 'Europe/Berlin', prompt: 'Summarise the inbox' },
    })
    expect(made.structured).toMatchObject({ name: 'Morning mail', state: 'active', prompt: 'Summarise the inbox' })
    expect(made.text).toMatch(/^Created "Morning mail" \(\w+\): At 09:00.*\. Next run /)
    const { id, version } = made.structured as { readonly id: string; readonly version: number }
    const stored = await world.ask('GET', `/api/v1/schedules/${id}`)
    expect(stored.json()).toMatchObject({ payload: { prompt: 'Summarise the inbox' }, created_by: 'key_owner' })

    const listed = await guest.call('schedule_list', { q: 'morning', limit: 5 })
    expect(listed.structured).toMatchObject({ items: [{ id }], next_cursor: null })
    expect((await guest.call('schedule_list', { schedule_id: id })).structured).toMatchObject({ items: [{ id }] })

    const changed = await guest.call('schedule_update', { schedule_id: id, version, every_seconds: 3_600, cron: null })
    expect(changed.structured).toMatchObject({ id, every_seconds: 3_600 })
    expect(await guest.refused('schedule_update', { schedule_id: id, version, name: 'Late' })).toMatchObject({
      code: 'STALE_VERSION',
    })
    const off = await guest.call('schedule_update', { schedule_id: id, enabled: false })
    expect(off.structured).toMatchObject({ state: 'paused', next_run_at: null })

    const ran = await guest.call('run_now', { schedule_id: id })
    expect(ran.structured).toMatchObject({ ran: true, reason: null })
    const { run_id: runId } = ran.structured as { readonly run_id: string }
    const why = await guest.call('run_explain', { run_id: runId })
    expect(why.structured).toMatchObject({ run_id: runId })
    expect(why.text).toContain(String(why.structured['sentence']))

    expect((await guest.call('schedule_delete', { schedule_id: id })).structured).toEqual({ id, deleted: true })
    expect((await world.ask('GET', `/api/v1/schedules/${id}`)).statusCode).toBe(404)
  })

  it('preview a timing, changes of the clock included', async () => {
    const { structured, text } = await guest.call('schedule_preview', {
      ...{ cron: '30 2 * * *', timezone: 'Europe/Berlin', from: '2027-03-27T00:00:00Z', count: 2 },
    })
    expect(structured['next']).toHaveLength(2)
    expect(structured['dst_notes']).not.toEqual([])
    expect(text).toContain('Next: 2027-03-27')
  })

  it('explain a moment of a schedule', async () => {
    const made = await guest.call('schedule_create', { name: 'Daily', cron: '0 9 * * *', prompt: 'x' })
    const { id, next_run_at: at } = made.structured
    const told = await guest.call('run_explain', { schedule_id: id, at })
    expect(told.structured).toMatchObject({ run_id: null })
    expect(told.text).not.toContain('{')
  })

  it('hand in a task and stop it', async () => {
    const handed = await guest.call('task_submit', { agent_id: 'writer', action: 'summarise', params: { text: 'x' } })
    expect(handed.structured).toMatchObject({ position: expect.any(Number) as number })
    const { task_id: runId } = handed.structured
    expect((await guest.call('stop', { run_id: runId })).structured).toMatchObject({ stopped: 1 })
    const stopped = await guest.call('stop', { session: 'agent:writer:web:user:1', all: true })
    expect(stopped.structured).toEqual({ stopped: 0, drained: 0 })
  })
})

describe('the table of tools', () => {
  it('asks only for operations of the contract, and none that could make a program start', () => {
    const asked = [
      TOOLS.schedule_create.toRequest({}),
      TOOLS.schedule_list.toRequest({}),
      TOOLS.schedule_list.toRequest({ schedule_id: 'x' }),
      TOOLS.schedule_update.toRequest({ schedule_id: 'x' }),
      TOOLS.schedule_delete.toRequest({ schedule_id: 'x' }),
      TOOLS.schedule_preview.toRequest({}),
      TOOLS.run_now.toRequest({ schedule_id: 'x' }),
      TOOLS.run_explain.toRequest({ run_id: 'x' }),
      TOOLS.run_explain.toRequest({ schedule_id: 'x', at: 1 }),
      TOOLS.task_submit.toRequest({ agent_id: 'x', action: 'x' }),
      TOOLS.stop.toRequest({ session: 'x' }),
      TOOLS.stop.toRequest({ session: 'x', all: true }),
      TOOLS.stop.toRequest({ run_id: 'x' }),
    ].map(({ operation }) => operation)
    for (const operation of asked) expect(OPERATIONS).toHaveProperty([operation])
    expect(asked.filter((operation) => /^(agents|keys|secrets|config|targets)\./.test(operation))).toEqual([])
    for (const { input } of Object.values(TOOLS)) expect(JSON.stringify(input)).not.toContain('executor')
  })
})
