import { describe, expect } from 'vitest'
import type { Handler } from '../../src/executors/in-process/execute.ts'
import { dm, inGroup, startBotApi, type BotApi } from '../integrations/channels/bot-api.ts'
import { scenario, type Remote, type World } from '../http-scenarios/world.ts'
import { eventually, nothingFor } from '../scenarios/support.ts'

const ANN = 1_001
const GROUP = -100_555

/** An agent whose work a test ends, and how many of its runs went at a time. */
function createAgent(): {
  readonly handler: Handler
  readonly said: string[]
  readonly most: () => number
  open: () => void
} {
  const said: string[] = []
  const gates: (() => void)[] = []
  let [now, most] = [0, 0]
  const handler: Handler = async ({ payload }, { signal }) => {
    const { text = '' } = payload as { readonly text?: string }
    said.push(text)
    now += 1
    most = Math.max(most, now)
    try {
      if (text.includes('hold'))
        await new Promise<void>((resolve, reject) => {
          gates.push(resolve)
          signal.addEventListener('abort', () => reject(new Error('stopped')), { once: true })
        })
      if (text.includes('quiet')) return 'NO_REPLY'
      if (text.includes('long')) return `${'word '.repeat(1_800)}end`
      return `You said: ${text}`
    } finally {
      now -= 1
    }
  }
  return { handler, said, most: () => most, open: () => gates.splice(0).forEach((resolve) => resolve()) }
}

async function withTelegram(
  world: World,
  play: (node: Remote, bot: BotApi, agent: ReturnType<typeof createAgent>) => Promise<void>,
): Promise<void> {
  const bot = await startBotApi()
  const agent = createAgent()
  try {
    await play(await startWith(world, bot, agent), bot, agent)
  } finally {
    await bot.close()
  }
}

const startWith = (world: World, bot: BotApi, agent: ReturnType<typeof createAgent>): Promise<Remote> =>
  world.start({
    agents: { worker: agent.handler },
    channels: { telegram_api: bot.url },
    sessions: { debounce_ms: 0 },
  })

async function connect(node: Remote, bot: BotApi, more: object = {}): Promise<string> {
  const made = await node.raw('POST', '/api/v1/channels', {
    body: { name: 'tg', kind: 'telegram', agent_id: 'worker', token: bot.token, allowed_users: [ANN], ...more },
  })
  expect(made).toMatchObject({ status: 201, body: { name: 'tg', has_token: true, mode: 'polling', open: false } })
  expect(JSON.stringify(made.body)).not.toContain(bot.token)
  return String(made.body['id'])
}

const runsIn = async (node: Remote, key: string): Promise<readonly { readonly status: string }[]> =>
  (await node.runs.list({ session: key })).items

/** It is let into one group, and meant there when it is named. */
async function talkInGroup(node: Remote, bot: BotApi, agent: ReturnType<typeof createAgent>): Promise<void> {
  const before = agent.said.length
  const heard = (): readonly string[] => agent.said.slice(before)
  const [ann, ben] = [
    { id: ANN, name: 'Ann' },
    { id: 1_002, name: 'Ben' },
  ]
  bot.write(inGroup(-100_777, ann, '@esc_bot let us in'))
  bot.write(inGroup(GROUP, ann, 'nobody asked the bot'))
  bot.write(inGroup(GROUP, ann, '/stop@other_bot'))
  for (const n of [1, 2, 3, 4]) bot.write(inGroup(GROUP, n % 2 === 0 ? ann : ben, `@esc_bot hold ${n}`))
  await eventually(() => expect(heard()).toHaveLength(3))
  await nothingFor(100)
  expect(heard()).toEqual(['Ben: hold 1', 'Ann: hold 2', 'Ben: hold 3'])
  expect(await node.sessions.get(`agent:worker:tg:group:${GROUP}`)).toMatchObject({ max_concurrent: 3 })
  agent.open()
  await eventually(() => expect(heard()).toHaveLength(4))
  bot.write(inGroup(GROUP, ben, '/stopall@esc_bot'))
  await eventually(() => expect(bot.shown(GROUP)).toContain('Stopped: 1. Removed from the queue: 0.'))
  await eventually(() => expect(bot.shown(GROUP).filter((text) => text.startsWith('You said'))).toHaveLength(3))
  expect([agent.most(), bot.shown(-100_777)]).toEqual([3, []])
}

describe('a bot of Telegram', () => {
  scenario('answers those it knows, one at a time in private and three in a group, and says no to others', (world) =>
    withTelegram(world, async (node, bot, agent) => {
      const id = await connect(node, bot, { allowed_chats: [GROUP] })
      bot.write(dm(666, 'let me in'))
      await eventually(() => expect(bot.shown(666)).toEqual([expect.stringContaining('Your id here is 666')]))
      expect(agent.said).toEqual([])

      bot.write(dm(ANN, 'hello'))
      await eventually(() => expect(bot.shown(ANN)).toEqual(['You said: hello']))
      await eventually(() => expect(bot.seen.size).toBe(0))
      expect(
        bot.calls.some(
          ({ method, fields }) => method === 'setMessageReaction' && String(fields['chat_id']) === String(ANN),
        ),
      ).toBe(true)
      const key = `agent:worker:tg:dm:${ANN}`
      expect(await runsIn(node, key)).toMatchObject([{ status: 'success', trigger: 'message' }])
      await eventually(async () =>
        expect(await node.client.deliveries.list({})).toMatchObject({
          items: [{ kind: 'session', to: `session:${key}`, status: 'delivered' }],
        }),
      )

      // NO_REPLY is kept, and nothing stays in the chat for it.
      bot.write(dm(ANN, 'quiet please'))
      await eventually(async () =>
        expect((await node.client.deliveries.list({ status: 'kept' })).items).toHaveLength(1),
      )
      await eventually(() => expect(bot.seen.size).toBe(0))
      expect(bot.shown(ANN)).toEqual(['You said: hello'])

      bot.write(dm(ANN, 'long'))
      await eventually(() => expect(bot.shown(ANN)).toHaveLength(4))
      const pieces = bot.shown(ANN).slice(1)
      expect(pieces.every((piece) => piece.length <= 4_096)).toBe(true)
      expect(pieces.join(' ').split(/\s+/)).toHaveLength(1_801)
      expect(agent.most()).toBe(1)

      const shown = await node.raw('GET', `/api/v1/channels/${id}`)
      expect(shown.body).toMatchObject({
        username: 'esc_bot',
        failure: null,
        attended_by: expect.stringMatching(/^nod_/) as string,
      })
      const tried = await node.raw('POST', `/api/v1/channels/${id}/test`)
      expect(tried.body).toEqual({ ok: true, username: 'esc_bot', status_code: 200, message: null })
      await talkInGroup(node, bot, agent)
    }),
  )

  scenario('shows that it is at it, and /stop clears what it showed', (world) =>
    withTelegram(world, async (node, bot, agent) => {
      await connect(node, bot)
      bot.write(dm(ANN, 'hold 1'))
      bot.write(dm(ANN, 'hold 2'))
      await eventually(() => expect(bot.shown(ANN)).toEqual(['…']))
      expect(bot.calls.filter(({ method }) => method === 'sendChatAction').length).toBeGreaterThan(0)
      expect([bot.seen.size, agent.most()]).toEqual([2, 1])

      bot.write(dm(ANN, '/stop'))
      await eventually(() => expect(bot.shown(ANN)).toContain('Stopped: 1. Removed from the queue: 0.'))
      // The placeholder goes without a word about an error, and the next message is begun.
      await eventually(() => expect(agent.said).toEqual(['hold 1', 'hold 2']))
      await eventually(() => expect(bot.seen.size).toBe(1))
      agent.open()
      await eventually(() =>
        expect(bot.shown(ANN)).toEqual(['Stopped: 1. Removed from the queue: 0.', 'You said: hold 2']),
      )
      const stopped = (await runsIn(node, `agent:worker:tg:dm:${ANN}`)).map(({ status }) => status)
      expect(stopped).toEqual(['success', 'cancelled'])
    }),
  )

  scenario('loses and doubles nothing when its server goes away, and may be brought its updates', (world) =>
    withTelegram(world, async (node, bot, agent) => {
      const id = await connect(node, bot)
      const first = bot.write(dm(ANN, 'one'))
      await eventually(() => expect(bot.shown(ANN)).toEqual(['You said: one']))
      // Of two nodes one attends; the other takes over when it goes.
      const other = await startWith(world, bot, agent)
      const holder = async (of: Remote): Promise<unknown> =>
        (await of.raw('GET', `/api/v1/channels/${id}`)).body['attended_by']
      const held = await holder(node)
      await nothingFor(1_200)
      expect([await holder(other), bot.asking()]).toEqual([held, 1])
      await node.stop()
      await eventually(async () => expect([held, null]).not.toContain(await holder(other)))
      await other.stop()
      bot.write(dm(ANN, 'two'))
      // As if a node had died after taking the first one in and before it could say so to Telegram.
      await world.database.outside('update escapement.channel set last_update = null')
      bot.repeat(first)
      const again = await startWith(world, bot, agent)
      await eventually(() => expect(bot.shown(ANN)).toEqual(['You said: one', 'You said: two']))
      expect(agent.said).toEqual(['one', 'two'])

      const patched = await again.raw('PATCH', `/api/v1/channels/${id}`, { body: { mode: 'webhook' } })
      expect(patched).toMatchObject({ status: 200, body: { mode: 'webhook', hook_path: `/api/v1/hooks/${id}` } })
      const set = await eventually(() => {
        const found = bot.calls.find(({ method }) => method === 'setWebhook')
        expect(found?.fields['url']).toBe(`${again.url}/api/v1/hooks/${id}`)
        return found
      })
      const update = { update_id: 900, message: { message_id: 77, ...dm(ANN, 'three') } }
      const bring = (secret: string): ReturnType<Remote['raw']> =>
        again.raw('POST', `/api/v1/hooks/${id}`, {
          key: '',
          body: update,
          headers: { 'x-telegram-bot-api-secret-token': secret },
        })
      expect(await bring('guessed')).toMatchObject({ status: 401, body: { code: 'BAD_SIGNATURE' } })
      const secret = String(set?.fields['secret_token'])
      const [brought, repeated] = [await bring(secret), await bring(secret)]
      expect(brought).toMatchObject({ status: 200, body: { outcome: 'accepted' } })
      expect(repeated.body).toEqual(brought.body)
      await eventually(() => expect(bot.shown(ANN)).toEqual(['You said: one', 'You said: two', 'You said: three']))
    }),
  )
})
