import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'vitest'
import { dm, startBotApi } from '../../integrations/channels/bot-api.ts'
import { eventually } from '../../scenarios/support.ts'
import { send } from '../conversation.ts'
import { acknowledges, beat, becomesDue, heartbeating, zoneAt } from '../heartbeats.ts'
import type { Row } from '../row.ts'
import type { World } from '../world.ts'

const settingsOf = async (world: World): Promise<Readonly<Record<string, unknown>>> => {
  const agent = await world.agent()
  return (await world.get(`/api/v1/agents/${agent.id}/heartbeat`)).body
}

const hasDefault =
  (setting: string, value: unknown) =>
  async (world: World): Promise<void> => {
    expect(await settingsOf(world)).toMatchObject({ [setting]: value })
  }

const runsOnPrompt = async (world: World): Promise<void> => {
  const agent = await heartbeating(world)
  await beat(world, agent, 'HEARTBEAT_OK')
  expect(agent.dispatches).toMatchObject([{ trigger_type: 'heartbeat' }])
  expect(agent.messages()[0]).toMatch(/HEARTBEAT_OK[^]*\n\n- Is anything in the inbox urgent\?$/)
}

const isDelivered = async (world: World): Promise<void> => {
  const { id: target } = await world.server.client.targets.create({ name: world.name, url: world.receiver.url })
  const agent = await heartbeating(world, { target })
  expect(await beat(world, agent, 'The disk is full')).toMatchObject({ outcome: 'news' })
  await world.until(() =>
    expect(world.receiver.heard().map(({ body }) => JSON.parse(body) as unknown)).toMatchObject([
      { data: { output: 'The disk is full' } },
    ]),
  )
}

/** The five steps. */
export const HEARTBEAT_STEPS: readonly Row[] = [
  { line: '11', says: 'A heartbeat checks on events and says what needs attention', check: isDelivered },
  {
    line: '167',
    says: 'The agent is woken periodically',
    check: async (world) => {
      const agent = await heartbeating(world, { interval_seconds: 1 })
      agent.reply({ status: 'success', output: 'HEARTBEAT_OK' })
      await world.until(() => agent.dispatches.length >= 2)
      await world.put(`/api/v1/agents/${agent.id}/heartbeat`, { enabled: false })
    },
  },
  { line: '171', says: 'The interval is 30 minutes by default', check: hasDefault('interval_seconds', 1_800) },
  {
    line: '172',
    says: 'Step 1: outside its active hours it is skipped',
    check: async (world) => {
      const active_hours = { start: '15:00', end: '17:00', timezone: zoneAt(3) }
      const agent = await heartbeating(world, { active_hours })
      expect(await becomesDue(world, agent)).toMatchObject({ outcome: 'skipped', reason: 'outside_active_hours' })
      expect(agent.dispatches).toEqual([])
    },
  },
  {
    line: '174',
    says: 'Step 2: without HEARTBEAT.md it is skipped',
    check: async (world) => {
      const agent = await heartbeating(world, { checklist: { file: `${world.name}-gone.md` } })
      expect(await becomesDue(world, agent)).toMatchObject({ outcome: 'skipped', reason: 'no_checklist' })
      expect(agent.dispatches).toEqual([])
    },
  },
  {
    line: '174',
    says: 'Step 2: without meaningful content it is skipped',
    check: async (world) => {
      const agent = await heartbeating(world, { checklist: { text: '# Morning\n\n- [ ]\n<!-- later -->\n' } })
      expect(await becomesDue(world, agent)).toMatchObject({ outcome: 'skipped', reason: 'empty_checklist' })
      expect(agent.dispatches).toEqual([])
    },
  },
  {
    line: '173',
    says: 'HEARTBEAT.md is in the workspace of the agent',
    check: async (world) => {
      const agent = await world.agent()
      const workspace = path.join(world.data, 'checklists', agent.id)
      mkdirSync(workspace, { recursive: true })
      writeFileSync(path.join(workspace, 'HEARTBEAT.md'), '- Is the disk full?')
      const input = { enabled: true, interval_seconds: 3_600, target: 'none' }
      await world.server.client.heartbeat.set(agent.id, input)
      await beat(world, agent, 'HEARTBEAT_OK')
      expect(agent.messages()[0]).toContain('- Is the disk full?')
    },
  },
  { line: '175', says: 'Step 3: the agent runs with the prompt of the heartbeat', check: runsOnPrompt },
  {
    line: '175',
    says: 'It runs whenever hours and checklist allow it',
    differs:
      'It also waits for a free agent and needs a place to send news to: otherwise the model would be paid for nothing.',
    check: async (world) => {
      const unheard = await heartbeating(world, { target: 'last' })
      expect(await becomesDue(world, unheard)).toMatchObject({ outcome: 'skipped', reason: 'no_route' })
      const busy = await heartbeating(world)
      busy.hold()
      await send(world, busy.session(), 'Think')
      await world.until(() => busy.busy() === 1)
      expect(await becomesDue(world, busy)).toMatchObject({ outcome: 'busy', reason: 'agent_busy' })
    },
  },
  {
    line: '176',
    says: 'Step 4: a reply that contains HEARTBEAT_OK is an acknowledgement',
    differs: 'Only alone or at either end: "the disk is full, so no HEARTBEAT_OK today" is news.',
    check: async (world) => {
      const agent = await heartbeating(world)
      const inside = 'All is HEARTBEAT_OK today'
      expect(await beat(world, agent, inside)).toMatchObject({ outcome: 'news', content: inside })
      expect(await beat(world, agent, 'All is well. HEARTBEAT_OK')).toMatchObject({ reason: 'acknowledged' })
    },
  },
  { line: '177', says: 'An acknowledgement is discarded and logged', check: acknowledges('HEARTBEAT_OK') },
  {
    line: '178',
    says: 'Step 5: the same content within 24 hours is not sent again',
    shownBy: [
      'test/plane/heartbeats.test.ts',
      '45: the same again › is not sent twice within a day, also by another process, and counts only when it has arrived',
    ],
  },
  { line: '180', says: 'News is delivered to its target', check: isDelivered },
]

const WRAPS = { start: '12:00', end: '10:00', timezone: zoneAt(13) }

/** The settings of a heartbeat, and what counts as an acknowledgement. */
export const HEARTBEAT_SETTINGS: readonly Row[] = [
  {
    line: '185',
    says: 'The settings are named Interval, ActiveHours, Target and AckMaxChars',
    differs:
      'They are written as everywhere in the API: `interval_seconds`, `active_hours`, `target`, `ack_max_chars`.',
    check: async (world) => {
      const agent = await world.agent()
      const target = `/api/v1/agents/${agent.id}/heartbeat`
      const refused = await world.put(target, { Interval: 60, ActiveHours: null, Target: 'none', AckMaxChars: 9 })
      expect(refused.status).toBe(400)
      for (const name of ['interval_seconds', 'active_hours', 'target', 'ack_max_chars'])
        expect(JSON.stringify(refused.body)).toContain(name)
    },
  },
  {
    line: '187',
    says: 'The interval can be set',
    check: async (world) => {
      const agent = await heartbeating(world, { interval_seconds: 600 })
      const { next_at: next } = await world.server.client.heartbeat.get(agent.id)
      const ahead = Date.parse(next ?? '') - Date.now()
      expect(ahead).toBeGreaterThan(500_000)
      expect(ahead).toBeLessThanOrEqual(600_000)
    },
  },
  { line: '188', says: 'There are no active hours by default', check: hasDefault('active_hours', null) },
  {
    line: '188',
    says: 'Active hours may wrap around midnight',
    check: async (world) => {
      const agent = await heartbeating(world, { active_hours: WRAPS })
      expect(await beat(world, agent, 'HEARTBEAT_OK')).toMatchObject({ reason: 'acknowledged' })
    },
  },
  { line: '189', says: 'The target is `last` by default', check: hasDefault('target', 'last') },
  {
    line: '189',
    says: 'Target `last` is the conversation used last',
    check: async (world) => {
      const agent = await heartbeating(world, { target: 'last' })
      await world.ended(await send(world, agent.session(), 'Hello'))
      expect(await beat(world, agent, 'The disk is full')).toMatchObject({ outcome: 'news' })
      await world.until(async () =>
        expect(
          JSON.stringify(await world.get(`/api/v1/sessions/${encodeURIComponent(agent.session())}/messages`)),
        ).toContain('The disk is full'),
      )
    },
  },
  {
    line: '189',
    says: 'Target `none` runs and sends nothing',
    check: async (world) => {
      const entry = await beat(world, await heartbeating(world), 'The disk is full')
      expect(entry).toMatchObject({ outcome: 'news', reason: 'target_none', delivery_id: null })
    },
  },
  {
    line: '189',
    says: 'The name of a channel is a target',
    check: ({ alone }) =>
      alone(async ({ start, database }) => {
        const [bot, ann] = [await startBotApi(), 1_001]
        try {
          const channels = { telegram_api: bot.url }
          const node = await start({
            agents: { friend: () => 'The disk is full' },
            channels,
            schedules: { poll_ms: 50 },
          })
          const channel = {
            name: 'tg',
            kind: 'telegram' as const,
            agent_id: 'friend',
            token: bot.token,
            allowed_users: [`${ann}`],
          }
          await node.client.channels.create(channel)
          bot.write(dm(ann, 'Hello'))
          await eventually(() => expect(bot.shown(ann)).toHaveLength(1))
          await node.client.heartbeat.set('friend', { checklist: { text: '- Disk?' }, target: 'tg' })
          await database.outside('update escapement.heartbeat set next_at = now(), due_at = now()')
          await eventually(() => expect(bot.shown(ann)).toHaveLength(2))
        } finally {
          await bot.close()
        }
      }),
  },
  {
    line: '190',
    says: 'AckMaxChars is 300 by default',
    check: async (world) => {
      const agent = await heartbeating(world)
      const [fits, exceeds] = ['x'.repeat(300), 'x'.repeat(301)]
      expect(await beat(world, agent, `HEARTBEAT_OK ${fits}`)).toMatchObject({ reason: 'acknowledged' })
      expect(await beat(world, agent, `HEARTBEAT_OK ${exceeds}`)).toMatchObject({ outcome: 'news', content: exceeds })
    },
  },
  { line: '194', says: 'HEARTBEAT_OK is recognized as it is', check: acknowledges('HEARTBEAT_OK.') },
  { line: '194', says: 'HEARTBEAT_OK is recognized in bold', check: acknowledges('**HEARTBEAT_OK**') },
  { line: '194', says: 'HEARTBEAT_OK is recognized as code', check: acknowledges('`HEARTBEAT_OK`') },
  { line: '194', says: 'HEARTBEAT_OK is recognized between tags', check: acknowledges('<b>HEARTBEAT_OK</b>') },
  {
    line: '194',
    says: 'Text beside it of at most AckMaxChars is still an acknowledgement',
    check: async (world) => {
      const agent = await heartbeating(world, { ack_max_chars: 5 })
      expect(await beat(world, agent, 'HEARTBEAT_OK fine')).toMatchObject({ reason: 'acknowledged' })
      expect(await beat(world, agent, 'HEARTBEAT_OK but hot')).toMatchObject({ outcome: 'news', content: 'but hot' })
    },
  },
]
