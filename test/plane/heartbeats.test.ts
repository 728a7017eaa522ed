import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClient, type Client } from '../../src/client/client.ts'
import type { HeartbeatInput, HeartbeatLogView, HeartbeatView } from '../../src/features/heartbeats/schema.ts'
import { instant } from '../../src/domain/instant.ts'
import type { Dispatch } from '../../src/executors/dispatch.ts'
import { run } from '../cli/run.ts'
import { dm, startBotApi, type BotApi } from '../integrations/channels/bot-api.ts'
import { createCheckedClient } from '../http-scenarios/remote.ts'
import { json, startPeer, type Peer } from '../platform/outbound/peer.ts'
import { eventually, until } from '../scenarios/support.ts'
import { createServeWorld, type Served, type ServeWorld } from '../serve/support.ts'

// The model and the receiver are servers of their own. What has to be minutes or hours ago is put there in the database.

let world: ServeWorld
let model: Peer
let receiver: Peer
let bot: BotApi
let served: Served
let client: Client
let target = ''

/** What the model answers to whom, by the name of the agent in the path. */
const replies = new Map<string, unknown>()
/** When they want to be asked again. */
const nextChecks = new Map<string, unknown>()
/** Agents whose answers are kept back. */
const held = new Map<string, () => void>()
let receiverStatus = 200

beforeAll(async () => {
  model = await startPeer(async ({ url }, response) => {
    const agent = url.slice(1)
    if (held.has(agent)) await new Promise<void>((resolve) => held.set(agent, resolve))
    json(response, 200, {
      status: 'success',
      output: replies.get(agent) ?? 'HEARTBEAT_OK',
      next_check: nextChecks.get(agent),
    })
  })
  bot = await startBotApi()
  receiver = await startPeer((_, response) => json(response, receiverStatus, {}))
  world = await createServeWorld()
  await start()
  target = (await client.targets.create({ name: 'ops', url: `${receiver.url}/in` })).id
}, 60_000)

afterAll(async () => {
  await world.end()
  await Promise.all([model.close(), receiver.close(), bot.close()])
})

async function start(): Promise<void> {
  served = world.serve({ variables: variables() })
  const url = await served.url
  client = createCheckedClient(url, ownerKey())
}

const ownerKey = (): string => readFileSync(path.join(world.data, 'owner.key'), 'utf8').trim()

const variables = (): Readonly<Record<string, string>> => ({
  ESCAPEMENT_OUTBOUND_ALLOW_HOSTS: `127.0.0.1:${receiver.port},127.0.0.1:${model.port}`,
  ESCAPEMENT_HEARTBEAT_CHECKLIST_DIR: 'checklists',
  ESCAPEMENT_CHANNELS_TELEGRAM_API: bot.url,
  ESCAPEMENT_SCHEDULES_POLL_MS: '50',
})

const CHECKLIST = { text: '# Morning\n- Is anything in the inbox urgent?' }

/** An agent whose heart beats, next in an hour. */
async function anAgent(id: string, heartbeat: HeartbeatInput): Promise<void> {
  await client.agents.create({ id, name: id, executor: { kind: 'http', url: `${model.url}/${id}` } })
  await client.heartbeat.set(id, { checklist: CHECKLIST, interval_seconds: 3_600, target: 'none', ...heartbeat })
}

/** Time passes: the next moment of the heartbeat has come. */
const comesDue = (...agents: readonly string[]): Promise<unknown> =>
  world.database.outside(
    `update escapement.heartbeat set next_at = now(), due_at = now() where agent_id = any($1::text[])`,
    [agents],
  )

/** Time passes: what was delivered to the target so far was delivered so much longer ago. */
const passes = (agent: string, ago: string): Promise<unknown> =>
  world.database.outside(
    `update escapement.delivery d set finished_at = d.finished_at - $2::interval from escapement.heartbeat_log l
      where l.agent_id = $1 and d.id = l.delivery_id and d.state = 'delivered'`,
    [agent, ago],
  )

const calls = (agent: string): number => model.heard.filter(({ url }) => url === `/${agent}`).length

/** The log, oldest first, once nothing in it is under way and it has so many entries. */
const logOf = (agent: string, count: number): Promise<readonly HeartbeatLogView[]> =>
  eventually(async () => {
    const { items } = await client.heartbeat.log(agent)
    expect(items.map(({ outcome }) => outcome)).not.toContain('running')
    expect(items).toHaveLength(count)
    return items.toReversed()
  })

const inShort = (entry: HeartbeatLogView | undefined): string => `${entry?.outcome ?? ''}/${entry?.reason ?? ''}`

/** What the receiver was told of runs of an agent. */
const received = (agent: string): readonly unknown[] =>
  receiver.heard
    .map(
      ({ body }) =>
        (JSON.parse(body) as { readonly data: { readonly agent_id?: string; readonly output?: unknown } }).data,
    )
    .filter((data) => data.agent_id === agent)
    .map(({ output }) => output)

/** One beat with this answer, and what became of it. */
async function beats(agent: string, reply: string, count: number): Promise<HeartbeatLogView | undefined> {
  replies.set(agent, reply)
  await comesDue(agent)
  return (await logOf(agent, count)).at(-1)
}

const whenDelivered = (agent: string, count: number): Promise<unknown> =>
  eventually(async () => {
    const { items } = await client.heartbeat.log(agent, { outcome: 'news' })
    expect(items.filter(({ delivery_status: status }) => status === 'delivered')).toHaveLength(count)
  })

describe('43: when a model is called', () => {
  /** A zone whose clocks show this hour now. */
  const zoneAt = (hour: number): string => {
    const ahead = ((hour - new Date().getUTCHours() + 36) % 24) - 12
    return ahead === 0 ? 'Etc/GMT' : `Etc/GMT${ahead > 0 ? '-' : '+'}${Math.abs(ahead)}`
  }

  it('is between 22:00 and 06:00 where the clock shows so', async () => {
    // Not while clocks go on to the next hour.
    const hour = 3_600_000
    if (hour - (Date.now() % hour) < 10_000) await until(Math.ceil(Date.now() / hour) * hour)
    const clocks = { at23: 23, at05: 5, at06: 6, at21: 21 }
    for (const [id, shown] of Object.entries(clocks))
      await anAgent(id, { active_hours: { start: '22:00', end: '06:00', timezone: zoneAt(shown) } })
    await comesDue(...Object.keys(clocks))
    const found: Record<string, string> = {}
    for (const id of Object.keys(clocks)) found[id] = inShort((await logOf(id, 1))[0])
    const [inside, outside] = ['suppressed/acknowledged', 'skipped/outside_active_hours']
    expect(found).toEqual({ at23: inside, at05: inside, at06: outside, at21: outside })
    expect(Object.keys(clocks).map(calls)).toEqual([1, 1, 0, 0])
    const { next_at: next } = await client.heartbeat.get('at21')
    expect(Date.parse(next ?? '')).toBeGreaterThan(Date.now())
  })

  it('is not for headings, empty boxes and comments, nor for files that are not there', async () => {
    const directory = path.join(world.data, 'checklists')
    mkdirSync(directory, { recursive: true })
    writeFileSync(path.join(directory, 'ops.md'), '- Is the disk full?')
    symlinkSync(path.join(world.data, 'owner.key'), path.join(directory, 'link.md'))
    const lists: Readonly<Record<string, NonNullable<HeartbeatInput['checklist']>>> = {
      empty: { text: '# Morning\n\n- [ ]\n- [x]  \n*\n<!-- later: the inbox -->\n```\n```\n' },
      missing: { file: 'gone.md' },
      linked: { file: 'link.md' },
      filed: { file: 'ops.md' },
    }
    for (const [id, checklist] of Object.entries(lists)) await anAgent(id, { checklist })
    expect(await client.heartbeat.test('empty')).toMatchObject({ ran: false, reason: 'empty_checklist' })
    await comesDue('empty', 'missing', 'linked', 'filed')
    expect((await logOf('empty', 2)).map(inShort)).toEqual(Array(2).fill('skipped/empty_checklist'))
    const [missing] = await logOf('missing', 1)
    expect([inShort(missing), missing?.why.evidence]).toEqual([
      'skipped/no_checklist',
      { problem: 'gone.md cannot be read: ENOENT' },
    ])
    const [linked] = await logOf('linked', 1)
    expect(linked?.why.evidence).toEqual({ problem: 'link.md is outside the checklist directory' })
    expect((await logOf('filed', 1)).map(inShort)).toEqual(['suppressed/acknowledged'])
    expect(['empty', 'missing', 'linked', 'filed'].map(calls)).toEqual([0, 0, 0, 1])
    const told = JSON.parse(model.heard.find(({ url }) => url === '/filed')?.body ?? '{}') as Dispatch
    expect(told).toMatchObject({ trigger_type: 'heartbeat', session_id: 'agent:filed:heartbeat:main' })
    expect(told.message).toMatch(/HEARTBEAT_OK[^]*\n\n- Is the disk full\?$/)
  })

  it('is not without a route; with target none it is, and nothing is sent', async () => {
    await anAgent('lost', { target: 'last' })
    await anAgent('quiet', { target: 'none' })
    await comesDue('lost')
    expect(await logOf('lost', 1)).toMatchObject([{ outcome: 'skipped', reason: 'no_route', target: 'last' }])
    expect(await beats('quiet', 'The disk is full', 1)).toMatchObject({
      ...{ outcome: 'news', reason: 'target_none', content: 'The disk is full', delivery_id: null },
    })
    expect([calls('lost'), calls('quiet')]).toEqual([0, 1])
  })
})

describe('44: an acknowledgement', () => {
  const long = 'x'.repeat(301)
  const inside = 'The word HEARTBEAT_OK stands in the middle of this'

  it('disturbs nobody; what is more is delivered without the token', async () => {
    await anAgent('speaker', { target })
    const expected: readonly (readonly [string, string, string | null])[] = [
      ['**HEARTBEAT_OK**.', 'suppressed/acknowledged', null],
      ['`HEARTBEAT_OK`', 'suppressed/acknowledged', null],
      ['<b>HEARTBEAT_OK</b> all quiet', 'suppressed/acknowledged', null],
      [`HEARTBEAT_OK ${long}`, 'news/heartbeat_news', long],
      [inside, 'news/heartbeat_news', inside],
      ['', 'suppressed/empty_reply', null],
      ['NO_REPLY', 'suppressed/no_reply', null],
    ]
    for (const [index, [reply, outcome, content]] of expected.entries()) {
      const entry = await beats('speaker', reply, index + 1)
      expect([reply, inShort(entry), entry?.content]).toEqual([reply, outcome, content])
    }
    await whenDelivered('speaker', 2)
    expect(received('speaker')).toEqual([long, inside])
    const [entry] = (await client.heartbeat.log('speaker', { outcome: 'news', limit: 1 })).items
    const told = await client.runs.get(entry?.run_id ?? '')
    expect(told).toMatchObject({ trigger: 'heartbeat', lane: 'cron', status: 'success', output: inside })
    expect(told.deliveries.map(({ id, status }) => [id, status])).toEqual([[entry?.delivery_id, 'delivered']])
    replies.set('speaker', inside)
    await client.runs.retry(told.id, { force: true })
    expect((await logOf('speaker', 8)).at(-1)).toMatchObject({ kind: 'asked', reason: 'duplicate' })
  })
})

describe('45: the same again', () => {
  it('is not sent twice within a day, also by another process, and counts only when it has arrived', async () => {
    await anAgent('alarm', { target })
    const sent = async (reply: string, count: number, arrived: number): Promise<string> => {
      const entry = await beats('alarm', reply, count)
      await whenDelivered('alarm', arrived)
      return inShort(entry)
    }
    const [news, again] = ['news/heartbeat_news', 'suppressed/duplicate']
    expect(await sent('A', 1, 1)).toBe(news)
    expect(await sent('A', 2, 1)).toBe(again)
    served.signal('SIGTERM')
    await served.ended
    await start()
    await passes('alarm', '23 hours 59 minutes')
    expect(await sent('A', 3, 1)).toBe(again)
    await passes('alarm', '1 minute')
    expect(await sent('A', 4, 2)).toBe(news)
    expect(await sent('B', 5, 3)).toBe(news)
    expect(await sent('A', 6, 4)).toBe(news)
    expect(received('alarm')).toEqual(['A', 'A', 'B', 'A'])

    receiverStatus = 503
    expect(inShort(await beats('alarm', 'C', 7))).toBe(news)
    await eventually(async () => {
      const [entry] = (await client.heartbeat.log('alarm', { limit: 1 })).items
      const { tries } = await client.deliveries.get(entry?.delivery_id ?? '')
      expect(tries).toHaveLength(1)
    })
    expect(inShort(await beats('alarm', 'C', 8))).toBe(news)
    receiverStatus = 200
  }, 60_000)
})

describe('the plan', () => {
  it('comes again within a minute when the agent is busy, in one entry, and is decided once by two nodes', async () => {
    const second = world.serve({ variables: variables() })
    await second.url
    await anAgent('busy', {})
    held.set('busy', () => undefined)
    await client.sessions.send('agent:busy:main', { text: 'Think', debounce_ms: 0 })
    await eventually(() => expect(calls('busy')).toBe(1))
    expect(await client.heartbeat.test('busy')).toMatchObject({ ran: false, reason: 'agent_busy' })
    await comesDue('busy')
    const due = await eventually(async () => {
      const { items } = await client.heartbeat.log('busy', { outcome: 'busy' })
      const planned = items.find(({ kind }) => kind === 'planned')
      expect(planned).toMatchObject({ reason: 'agent_busy', looks: 1 })
      return planned?.due_at
    })
    const { next_at: next } = await client.heartbeat.get('busy')
    expect(Date.parse(next ?? '') - Date.now()).toBeLessThanOrEqual(60_000)
    const lookAgain = (): Promise<unknown> =>
      world.database.outside(`update escapement.heartbeat set next_at = now() where agent_id = 'busy'`)
    await lookAgain()
    await eventually(async () => {
      const { items } = await client.heartbeat.log('busy', { outcome: 'busy' })
      expect(items.filter(({ kind }) => kind === 'planned')).toMatchObject([{ looks: 2, due_at: due }])
    })
    held.get('busy')?.()
    held.delete('busy')
    await eventually(async () => {
      const { items } = await client.runs.list({ agent_id: 'busy', status: 'success' })
      expect(items).toHaveLength(1)
    })
    await lookAgain()
    const log = await logOf('busy', 3)
    expect(log.at(-1)).toMatchObject({ outcome: 'suppressed', due_at: due })
    for (let n = 2; n <= 4; n += 1) await beats('busy', 'HEARTBEAT_OK', n + 2)
    expect(calls('busy')).toBe(5)
    second.signal('SIGTERM')
    await second.ended
  })

  it('stretches while all is well, and starts anew with news', async () => {
    await anAgent('calm', { interval_seconds: 600, adaptive: { ok_step: 2, max_interval_seconds: 3_000 } })
    const after = async (reply: string, count: number): Promise<readonly [number, number]> => {
      await beats('calm', reply, count)
      const { current_interval_seconds: seconds, next_at: next } = await client.heartbeat.get('calm')
      return [seconds, Math.round((Date.parse(next ?? '') - Date.now()) / 60_000)]
    }
    expect(await after('HEARTBEAT_OK', 1)).toEqual([600, 10])
    expect(await after('HEARTBEAT_OK', 2)).toEqual([1_200, 20])
    expect(await after('HEARTBEAT_OK', 3)).toEqual([1_200, 20])
    expect(await after('HEARTBEAT_OK', 4)).toEqual([2_400, 40])
    expect(await after('HEARTBEAT_OK', 6 - 1)).toEqual([2_400, 40])
    expect(await after('HEARTBEAT_OK', 6)).toEqual([3_000, 50])
    expect(await after('The disk is full', 7)).toEqual([600, 10])
  })

  it('is the wish of the agent when it has one', async () => {
    await anAgent('wishful', {})
    const minutes = async (): Promise<number> =>
      Math.round((Date.parse((await client.heartbeat.get('wishful')).next_at ?? '') - Date.now()) / 60_000)
    nextChecks.set('wishful', 300)
    await beats('wishful', 'HEARTBEAT_OK', 1)
    expect(await minutes()).toBe(5)
    nextChecks.set('wishful', 'soon')
    await beats('wishful', 'HEARTBEAT_OK', 2)
    expect(await minutes()).toBe(60)
  })

  it('tells whoever watches an agent what becomes of its heartbeats', async () => {
    const told: unknown[] = []
    const place = { url: await served.url, key: ownerKey() }
    const filter = { kinds: ['heartbeat.changed'], agent_id: 'quiet' } as const
    const watch = async (onOpen: () => void): Promise<void> => {
      for await (const event of createClient(place).events(filter, { onOpen })) {
        if (event.kind === 'reset') continue
        told.push([event.subject, event.data['outcome'], event.data['reason']])
        if (told.length === 2) return
      }
    }
    let watching: Promise<void> = Promise.resolve()
    await new Promise<void>((opened, failed) => {
      watching = watch(opened)
      watching.catch(failed)
    })
    await client.heartbeat.test('calm')
    replies.set('quiet', 'HEARTBEAT_OK')
    await client.heartbeat.test('quiet')
    await watching
    expect(told).toEqual([
      ['quiet', 'running', 'heartbeat_asked'],
      ['quiet', 'suppressed', 'acknowledged'],
    ])
  })

  it('counts what became of heartbeats, and keeps who changed them', async () => {
    const metrics = await (await fetch(`${await served.url}/metrics`)).text()
    expect(metrics).toMatch(/escapement_heartbeats_total\{outcome="busy"\} [1-9]/)
    expect(metrics).toMatch(/escapement_heartbeats_total\{outcome="suppressed"\} [1-9]/)
    const { items } = await client.audit.list({ limit: 200 })
    const done = items.filter(({ object }) => object.id === 'busy').map(({ action }) => action)
    expect(done.toReversed()).toEqual(['agent.create', 'heartbeat.update', 'heartbeat.test'])
  })
})

describe('news in a chat', () => {
  const ANN = 1_001
  const BOB = 1_002

  it('goes to whom the agent was last spoken by, to whom is named, or to whom the channel writes', async () => {
    await anAgent('friend', { target: 'last' })
    replies.set('friend', 'Hello Ann')
    const { id: channel } = await client.channels.create({
      ...{ name: 'tg', kind: 'telegram', agent_id: 'friend', token: bot.token, allowed_users: [String(ANN)] },
    })
    expect(await client.heartbeat.test('friend')).toMatchObject({ ran: false, reason: 'no_route' })
    bot.write(dm(ANN, 'Hello'))
    await eventually(() => expect(bot.shown(ANN)).toContain('Hello Ann'))
    const news = async (reply: string, count: number): Promise<HeartbeatLogView | undefined> => {
      await beats('friend', reply, count)
      return eventually(async () => {
        const [entry] = (await client.heartbeat.log('friend', { limit: 1 })).items
        expect(entry).toMatchObject({ outcome: 'news', content: reply, delivery_status: 'delivered' })
        return entry
      })
    }
    await news('The disk is full', 2)
    expect(bot.shown(ANN).at(-1)).toBe('The disk is full')
    const heartbeat = settingsOf(await client.heartbeat.get('friend'))
    await client.heartbeat.set('friend', { ...heartbeat, target: `tg:${BOB}` })
    await news('The disk is full', 3)
    expect(bot.shown(BOB)).toEqual(['The disk is full'])
    await client.heartbeat.set('friend', { ...heartbeat, target: 'tg' })
    await news('The disk is on fire', 4)
    expect(bot.shown(ANN).at(-1)).toBe('The disk is on fire')
    await client.channels.update(channel, { default_recipient: String(BOB) })
    expect((await client.heartbeat.get('friend')).route).toBe(`tg:${ANN}`)
    await world.database.outside('delete from escapement.chat')
    expect((await client.heartbeat.get('friend')).route).toBe(`tg:${BOB}`)
    await client.channels.update(channel, { default_recipient: null })
    await comesDue('friend')
    expect(inShort((await logOf('friend', 5)).at(-1))).toBe('skipped/no_route')
    expect(calls('friend')).toBe(4)
  })
})

describe('news in a conversation of the console or the API', () => {
  const KEY = 'agent:talker:web:direct:ann'

  it('is added to the conversation used last, with an event, and starts no run there', async () => {
    await client.agents.create({ id: 'talker', name: 'talker', executor: { kind: 'http', url: `${model.url}/talker` } })
    const set = await client.heartbeat.set('talker', { checklist: CHECKLIST, interval_seconds: 3_600 })
    expect(set).toMatchObject({ target: 'last', route: null })
    expect(set.no_route).toContain('send the agent a message')
    for (const key of ['agent:talker:web:direct:earlier', KEY]) {
      await client.sessions.send(key, { text: 'Hello', debounce_ms: 0 })
      await eventually(async () => {
        const { items } = await client.runs.list({ session: key, status: 'success' })
        expect(items).toHaveLength(1)
      })
    }
    expect(await client.heartbeat.get('talker')).toMatchObject({ route: `session ${KEY}`, no_route: null })

    const over = new AbortController()
    const told: unknown[] = []
    const place = { url: await served.url, key: ownerKey() }
    await new Promise<void>((onOpen) => {
      const filter = { session: KEY, kinds: ['outbound'] } as const
      void (async () => {
        for await (const event of createClient(place).events(filter, { signal: over.signal, onOpen }))
          if (event.kind === 'outbound')
            told.push({ session: event.data['session'], run_id: event.data['run_id'], text: event.data['text'] })
      })()
    })
    const entry = await beats('talker', 'The disk is full', 1)
    expect(inShort(entry)).toBe('news/heartbeat_news')
    await whenDelivered('talker', 1)
    const { items: messages } = await client.sessions.messages(KEY)
    expect(messages).toMatchObject([
      { trigger: 'heartbeat', text: null, reply: 'The disk is full', run_id: entry?.run_id, status: 'success' },
      { trigger: 'message', text: 'Hello' },
    ])
    const [first, second] = await Promise.all(
      [undefined, (await client.sessions.messages(KEY, { limit: 1 })).next_cursor ?? ''].map((cursor) =>
        client.sessions.messages(KEY, { limit: 1, ...(cursor === undefined ? {} : { cursor }) }),
      ),
    )
    expect([first?.items, second?.items, second?.next_cursor]).toEqual([[messages[0]], [messages[1]], null])
    expect((await client.runs.list({ session: KEY })).items).toHaveLength(1)
    await eventually(() => expect(told).toEqual([{ session: KEY, run_id: entry?.run_id, text: 'The disk is full' }]))
    over.abort()
    expect(inShort(await beats('talker', 'The disk is full', 2))).toBe('suppressed/duplicate')

    // The schedule's, the heartbeat's and the sub-agent's own sessions are not where anybody reads.
    const parent = messages[1]?.run_id ?? ''
    await client.sessions.send('agent:talker:web:direct:below', { text: 'Go', debounce_ms: 0, parent_run_id: parent })
    await client.sessions.send('agent:talker:heartbeat:main', { text: 'Hi', debounce_ms: 0 })
    expect((await client.heartbeat.get('talker')).route).toBe(`session ${KEY}`)
  })

  it('raises an alert when heartbeats fail or have no route three times in a row, which clears itself', async () => {
    await client.agents.create({ id: 'lonely', name: 'lonely', executor: { kind: 'http', url: `${model.url}/lonely` } })
    await client.heartbeat.set('lonely', { checklist: CHECKLIST, interval_seconds: 3_600 })
    const alerts = async (status: 'open' | 'cleared'): Promise<readonly string[]> =>
      (await client.alerts.list({ subject_id: 'lonely', status })).items.map(({ kind }) => kind)
    for (const count of [1, 2]) expect(inShort(await beats('lonely', 'News', count))).toBe('skipped/no_route')
    expect(await alerts('open')).toEqual([])
    await beats('lonely', 'News', 3)
    await beats('lonely', 'News', 4)
    expect(await alerts('open')).toEqual(['heartbeat_failing'])
    await client.sessions.send('agent:lonely:web:direct:ann', { text: 'Hello', debounce_ms: 0 })
    await eventually(async () => {
      expect((await client.runs.list({ agent_id: 'lonely', status: 'success' })).items).toHaveLength(1)
    })
    expect(inShort(await beats('lonely', 'News', 5))).toBe('news/heartbeat_news')
    expect([await alerts('open'), await alerts('cleared')]).toEqual([[], ['heartbeat_failing']])
  })

  it('takes HEARTBEAT.md of the agent when it is switched on without a checklist', async () => {
    const agent = { name: 'Keeper', executor: { kind: 'http', url: `${model.url}/keeper` } } as const
    await client.agents.create({ id: 'keeper', ...agent })
    await expect(client.heartbeat.set('keeper', { enabled: true })).rejects.toMatchObject({ code: 'VALIDATION' })
    mkdirSync(path.join(world.data, 'checklists/keeper'), { recursive: true })
    writeFileSync(path.join(world.data, 'checklists/keeper/HEARTBEAT.md'), '- Water the plants')
    const set = await client.heartbeat.set('keeper', { enabled: true, target: 'none' })
    expect(set).toMatchObject({ enabled: true, checklist: { file: 'keeper/HEARTBEAT.md' } })
    await beats('keeper', 'HEARTBEAT_OK', 1)
    const heard = model.heard.find(({ url }) => url === '/keeper')
    expect(heard?.body).toContain('Water the plants')
  })
})

describe('what is asked for', () => {
  it('is refused with the field that is wrong, and changes nothing', async () => {
    await anAgent('strict', {})
    const before = await client.heartbeat.get('strict')
    const bad: readonly (readonly [object, readonly string[]])[] = [
      [{ checklist: { file: '../owner.key' } }, ['/checklist/file']],
      [{ checklist: { file: '/etc/passwd' } }, ['/checklist/file']],
      [{ checklist: { text: 'a', file: 'b' } }, ['/checklist']],
      [{ enabled: true }, ['/enabled']],
      [{ active_hours: { start: '08:00', end: '08:00' } }, ['/active_hours']],
      [{ active_hours: { start: '24:00', end: '25:00' } }, ['/active_hours/start', '/active_hours/end']],
      [{ target: 'tgt_nobody' }, ['/target']],
      [{ target: 'last:me' }, ['/target']],
      [{ interval_seconds: 0, session: '', every: 5 }, ['/interval_seconds', '/session', '/every']],
      [{ interval_seconds: 60, adaptive: { max_interval_seconds: 30 } }, ['/adaptive/max_interval_seconds']],
      [{ prompt: 'a\u0000b', checklist: { text: '\ud800' } }, ['/prompt', '/checklist/text']],
    ]
    for (const [body, pointers] of bad) {
      const refused = client.heartbeat.set('strict', body)
      const error = await refused.then(
        () => null,
        (reason: unknown) =>
          reason as { readonly code: string; readonly errors: readonly { readonly pointer: string }[] },
      )
      expect([body, error?.code, error?.errors.map(({ pointer }) => pointer)]).toEqual([body, 'VALIDATION', pointers])
    }
    const stale = client.heartbeat.set('strict', { checklist: CHECKLIST }, { ifMatch: 7 })
    await expect(stale).rejects.toMatchObject({ code: 'STALE_VERSION' })
    await expect(client.heartbeat.get('nobody')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(await client.heartbeat.get('strict')).toEqual(before)
    const kept = await client.heartbeat.set('strict', { ...settingsOf(before), checklist: { text: '- Else?' } })
    expect([kept.next_at, kept.version]).toEqual([before.next_at, 2])
    const moved = await client.heartbeat.set('strict', { ...settingsOf(before), interval_seconds: 60 })
    expect(Date.parse(moved.next_at ?? '') - Date.now()).toBeLessThanOrEqual(60_000)
  })

  it('is done once for a key, and needs a checklist', async () => {
    await client.agents.create({ id: 'once', name: 'once', executor: { kind: 'http', url: `${model.url}/once` } })
    await expect(client.heartbeat.test('once')).rejects.toMatchObject({ code: 'CONFLICT' })
    await client.heartbeat.set('once', { checklist: CHECKLIST, target: 'none', enabled: false })
    const first = await client.heartbeat.test('once', { idempotencyKey: 'k' })
    const [done] = await logOf('once', 1)
    expect(await client.heartbeat.test('once', { idempotencyKey: 'k' })).toEqual(first)
    expect(await logOf('once', 1)).toEqual([done])
    expect([done?.kind, done?.run_id, calls('once')]).toEqual(['asked', first.run_id, 1])
  })
})

/** What of a heartbeat can be set. */
const settingsOf = (view: HeartbeatView): HeartbeatInput => {
  const { interval_seconds, active_hours, checklist, prompt, target: to, ack_max_chars, session, adaptive } = view
  return { interval_seconds, active_hours, checklist, prompt, target: to, ack_max_chars, session, adaptive }
}

describe('other ways in', () => {
  const type = (...args: readonly string[]) =>
    run(args, '', { cwd: '/', now: () => instant(Date.now()), variables: { ESCAPEMENT_DATA: world.data } })

  it('from the terminal', async () => {
    await client.agents.create({ id: 'typed', name: 'typed', executor: { kind: 'http', url: `${model.url}/typed` } })
    const nothing = await type('heartbeat', 'enable', 'typed')
    expect([nothing.code, nothing.stderr]).toEqual([1, expect.stringContaining('requires a checklist')])
    const set = await type('heartbeat', 'set', 'typed', '--checklist', '- Disk?', '--every', '15m', '--target', 'none')
    expect([set.code, set.stderr]).toEqual([0, ''])
    expect(set.stdout).toMatch(/state +active[^]*every +900 s/)
    await type('heartbeat', 'set', 'typed', '--active', '08:00-18:00@Europe/Berlin')
    const off = await type('heartbeat', 'disable', 'typed', '--json')
    expect(JSON.parse(off.stdout)).toMatchObject({
      ...{ enabled: false, interval_seconds: 900, next_at: null, checklist: { text: '- Disk?' } },
      active_hours: { start: '08:00', end: '18:00', timezone: 'Europe/Berlin' },
    })
    const tested = await type('heartbeat', 'test', 'typed')
    expect(tested).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Created run_\w+\. Show its/) as string })
    await logOf('typed', 1)
    expect((await type('heartbeat', 'log', 'typed')).stdout).toMatch(/suppressed +The agent replied HEARTBEAT_OK/)
    expect((await type('heartbeat', 'enable', 'typed')).stdout).toMatch(/state +active/)
  })

  it('by JSON-RPC', async () => {
    const key = ownerKey()
    const url = await served.url
    const call = async (method: string, params: object): Promise<Readonly<Record<string, unknown>>> => {
      const answer = await fetch(`${url}/rpc`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      })
      const said = (await answer.json()) as { readonly result?: object; readonly error?: object }
      return (said.result ?? said.error ?? {}) as Readonly<Record<string, unknown>>
    }
    await client.agents.create({ id: 'called', name: 'called', executor: { kind: 'http', url: `${model.url}/called` } })
    const given = { agentId: 'called', checklist: '- Disk?', intervalSec: 900, channel: 'none', activeHoursStart: '' }
    expect(await call('heartbeat.set', given)).toMatchObject({
      heartbeat: { enabled: true, intervalSec: 900, target: 'none', checklist: '- Disk?' },
    })
    expect(await call('heartbeat.set', { agentId: 'called', ackMaxChars: -1 })).toMatchObject({
      data: { code: 'VALIDATION', errors: [{ pointer: '/ackMaxChars' }] },
    })
    expect(await call('heartbeat.toggle', { agentId: 'called', enabled: false })).toEqual({
      ...{ agentId: 'called', enabled: false },
    })
    expect(await call('heartbeat.test', { agentId: 'called' })).toMatchObject({ ok: true, ran: true })
    await logOf('called', 1)
    expect(await call('heartbeat.logs', { agentId: 'called' })).toMatchObject({
      ...{ entries: [{ status: 'suppressed', reason: 'acknowledged' }], total: 1 },
    })
    expect(await call('heartbeat.get', { agentId: 'called' })).toMatchObject({ heartbeat: { enabled: false } })
    expect(await call('heartbeat.get', { agentId: 'nobody' })).toMatchObject({ data: { code: 'NOT_FOUND' } })
  })
})
