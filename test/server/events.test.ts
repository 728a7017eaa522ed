import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type EventView, event } from '../../src/features/events/schema.ts'
import type { RunView } from '../../src/features/runs/schema.ts'
import type { MessageReceipt } from '../../src/features/sessions/schema.ts'
import type { RunNowAnswer, ScheduleView } from '../../src/features/schedules/schema.ts'
import { principalId } from '../../src/domain/ids.ts'
import { createKey } from '../../src/features/access/keys.ts'
import { loadTransactionsAfter } from '../../src/engine/transaction/history-store.ts'
import { ORG, OTHER_ORG } from '../platform/db/records.ts'
import { listen, readEvents, type Read } from './event-reader.ts'
import { createLiveWorld, type LiveWorld } from './live.ts'
import { aPrincipal, KEYS, pointersIn, problemIn } from './support.ts'

let release = (): void => undefined
const held = () =>
  new Promise<string>((resolve) => {
    release = () => resolve('done')
  })
const agents = { worker: () => 'done', other: () => 'done', held }

let world: LiveWorld
beforeAll(async () => {
  world = await createLiveWorld(agents, { limits: { heartbeatMs: 200 } })
})
afterAll(() => world.close())

const say = async (session: string, text = 'hello', of: LiveWorld = world): Promise<string> => {
  const url = `/api/v1/sessions/${encodeURIComponent(session)}/messages`
  const response = await of.ask('POST', url, { body: { text, debounce_ms: 0 } })
  expect(response.statusCode).toBe(202)
  return response.json<MessageReceipt>().run_id
}

const runNow = async (schedule: string): Promise<string> =>
  (await world.ask('POST', `/api/v1/schedules/${schedule}/run-now`, { body: {} })).json<RunNowAnswer>().run_id ?? ''

const isEnded = (id: string) => (read: Read) => read.data['subject'] === id && statusOf(read) === 'success'
const statusOf = (read: Read): unknown => (read.data['data'] as Readonly<Record<string, unknown>>)['status']
const about = (reads: readonly Read[], id: string): readonly Read[] =>
  reads.filter(({ data }) => data['subject'] === id)

/** Every event of the org that is told outside, from its history. */
async function recorded(after: string, kinds: readonly string[], of: LiveWorld = world): Promise<readonly string[]> {
  const [no = 0] = after.split('-').map(Number)
  const turns = await loadTransactionsAfter(of.engine.ports.database, { orgId: ORG, after: no, limit: 100_000 })
  return turns.flatMap((turn) =>
    turn.events.flatMap(([kind], index) => (kinds.includes(kind) ? [`${turn.no}-${index}`] : [])),
  )
}

describe('a reader of schedules', () => {
  it('receives of runs only what happens to those of schedules, live and from history', async () => {
    KEYS.set('reader', aPrincipal('owner', { id: principalId('key_reader'), scopes: ['schedules:read'] }))
    const body = { name: 'Nightly', cron: '0 3 * * *', agent_id: 'worker' }
    const made = (await world.ask('POST', '/api/v1/schedules', { body })).json<ScheduleView>()
    const [reader, owner] = [await readEvents(world.app, '', { as: 'reader' }), await readEvents(world.app)]
    const message = await say('chat:hidden')
    const id = await runNow(made.id)
    await reader.one(isEnded(id))
    await owner.one(isEnded(message))
    // What comes after the end of the message would have come after it here, too.
    const last = await runNow(made.id)
    await reader.one(isEnded(last))
    expect(about(reader.events, message)).toEqual([])
    expect(about(reader.events, id).map(statusOf)).toEqual(['queued', 'running', 'success'])
    const again = await readEvents(world.app, '?kinds=run.changed', { as: 'reader', after: '0' })
    await again.one(isEnded(last))
    expect(about(again.events, message)).toEqual([])
    expect(new Set(again.events.map(({ event: kind }) => kind))).toEqual(new Set(['run.changed']))
    for (const one of [reader, owner, again]) one.close()
    KEYS.delete('reader')
  })
})

describe('a stream of events', () => {
  it('tells what happens to a run, in order, in the shape of the contract', async () => {
    const reader = await readEvents(world.app)
    expect(reader.status).toBe(200)
    expect(reader.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
    })
    const id = await say('chat:one')
    await reader.one(isEnded(id))
    const told = about(reader.events, id)
    expect(told.map(statusOf)).toEqual(['queued', 'running', 'success'])
    for (const read of told) {
      const view: EventView = event.parse(read.data)
      expect([view.id, view.kind, view.org_id]).toEqual([read.id, read.event, ORG])
    }
    expect(reader.text()).toMatch(/^retry: 2000\n\n/)
    reader.close()
  })

  it('tells in the session of an isolated run of a schedule what happens to that run', async () => {
    const body = { name: 'Nightly', cron: '0 3 * * *', agent_id: 'held' }
    const made = (await world.ask('POST', '/api/v1/schedules', { body })).json<ScheduleView>()
    const all = await readEvents(world.app)
    const id = await runNow(made.id)
    const { session_id: session } = (await world.ask('GET', `/api/v1/runs/${id}`)).json<RunView>()
    expect(session).toBe(`agent:held:cron:${made.id}:run:${id}`)
    const first = await all.one(({ data }) => data['subject'] === id)
    expect(first.data['data']).toMatchObject({ session })
    await all.one((read) => read.data['subject'] === id && statusOf(read) === 'running')
    const live = await readEvents(world.app, `?session=${encodeURIComponent(session ?? '')}`)
    release()
    await live.one(isEnded(id))
    const again = await readEvents(world.app, `?session=${encodeURIComponent(session ?? '')}`, { after: '0' })
    await again.one(isEnded(id))
    expect(again.events.map(statusOf)).toEqual(['queued', 'running', 'success'])
    for (const reader of [all, live, again]) reader.close()
  })

  it('goes on after the last id: the rest of its turn, and every turn after it', async () => {
    const first = await readEvents(world.app)
    const before = await say('chat:two')
    await first.one(isEnded(before))
    first.close()
    const all = first.events
    const later = await say('chat:two')
    for (const [index, { id }] of all.entries()) {
      const again = await readEvents(world.app, '', { after: id })
      await again.one(isEnded(later))
      expect(again.events.slice(0, all.length - index - 1)).toEqual(all.slice(index + 1))
      again.close()
    }
    const byQuery = await readEvents(world.app, `?last_event_id=${all.at(-1)?.id ?? ''}`)
    await byQuery.one(isEnded(later))
    expect(about(byQuery.events, before)).toEqual([])
    byQuery.close()
  })

  it('misses nothing and says nothing twice under load, however often one comes back', async () => {
    const start = await readEvents(world.app)
    await expect.poll(start.lastId, { timeout: 5_000 }).not.toBe('')
    const from = start.lastId()
    start.close()
    const sent: Promise<string>[] = []
    const seen: string[] = []
    const bySession: string[] = []
    let done = false
    const loadRuns = () =>
      world.engine.ports.database.query(`select session_key, finished_at from run where session_key like 'load:%'`, [])
    const follow = async (query: string, into: string[], recordedIds: () => Promise<number>): Promise<void> => {
      let after = from
      for (let round = 0; !done || round < 3; round += 1) {
        const reader = await readEvents(world.app, query, { after })
        const enough = 5 + ((round * 7) % 40)
        await Promise.race([reader.many(enough).catch(() => undefined), pause(120)])
        reader.close()
        await reader.ended
        into.push(...reader.events.map(({ id }) => id))
        after = reader.lastId() || after
      }
      const last = await readEvents(world.app, query, { after })
      const missing = (await recordedIds()) - into.length
      if (missing > 0) await last.many(missing)
      into.push(...last.events.map(({ id }) => id))
      last.close()
    }
    const followers = [
      follow('?kinds=run.changed', seen, async () => (await recorded(from, ['run.changed'])).length),
      follow('?session=load:1', bySession, async () => {
        const runs = await loadRuns()
        return runs.filter((row) => row['session_key'] === 'load:1').length * 3
      }),
    ]
    const load = (async () => {
      for (let round = 0; round < 60; round += 1) {
        for (let one = 0; one < 5; one += 1) sent.push(say(`load:${one}`, `${round}`))
        await Promise.all(sent)
      }
      await expect
        .poll(async () => (await loadRuns()).every((row) => row['finished_at'] !== null), { timeout: 30_000 })
        .toBe(true)
      done = true
    })()
    await Promise.all([...followers, load])
    // A busy machine merges messages that wait in a session, so the number of runs is asked for.
    const runs = (await loadRuns()).map((row) => row['session_key'])
    expect(runs.length).toBeGreaterThan(60)
    expect(seen).toEqual(await recorded(from, ['run.changed']))
    expect(seen.length).toBeGreaterThanOrEqual(runs.length * 3)
    expect(bySession.length).toBe(runs.filter((session) => session === 'load:1').length * 3)
    expect(new Set(bySession).size).toBe(bySession.length)
  }, 60_000)

  it('moves the id on by a heartbeat, also for whoever hears nothing', async () => {
    const reader = await readEvents(world.app, '?run_id=run_of_nobody')
    const id = await say('chat:beat')
    const watcher = await readEvents(world.app)
    await expect
      .poll(async () => (await recorded('0', ['run.changed'])).at(-1)?.split('-')[0] === reader.lastId(), {
        timeout: 5_000,
      })
      .toBe(true)
    expect(reader.events).toEqual([])
    expect(reader.text()).toMatch(/\n: \d+\nid: \d+\n\n/)
    expect(id).not.toBe('')
    watcher.close()
    reader.close()
  })
})

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

describe('a filter', () => {
  it('lets through the runs of a session, of an agent, of a schedule, or one run, also those made before', async () => {
    const made = await world.ask('POST', '/api/v1/schedules', {
      body: { name: 'f', every_seconds: 3_600, agent_id: 'other' },
    })
    const schedule = made.json<ScheduleView>().id
    const all = await readEvents(world.app)
    const session = await readEvents(world.app, '?session=chat%3Afilter')
    const agent = await readEvents(world.app, '?agent_id=other')
    const planned = await readEvents(world.app, `?schedule_id=${schedule}`)
    const kinds = await readEvents(world.app, '?kinds=schedule.changed,%20outbound')
    const mine = await say('chat:filter')
    const others = await say('chat:elsewhere')
    const ran = (await world.ask('POST', `/api/v1/schedules/${schedule}/run-now`)).json<{ run_id: string }>().run_id
    await world.ask('POST', `/api/v1/schedules/${schedule}/disable`)
    for (const id of [mine, others, ran]) await all.one(isEnded(id))
    await session.one(isEnded(mine))
    await agent.one(isEnded(ran))
    await planned.many(4)
    await kinds.many(1)
    await pause(100)
    const subjects = (reads: readonly Read[]) => [...new Set(reads.map(({ data }) => data['subject']))]
    expect(subjects(session.events)).toEqual([mine])
    expect(subjects(agent.events)).toEqual([ran])
    expect(subjects(planned.events).toSorted()).toEqual([ran, schedule].toSorted())
    expect(kinds.events.map(({ event: kind, data }) => [kind, data['subject']])).toEqual([
      ['schedule.changed', schedule],
    ])
    // From history it is the same: there the runs have ended, and nobody has them in memory.
    const from = `${Number(all.events[0]?.id.split('-')[0]) - 1}`
    for (const [query, live] of [
      ['?session=chat%3Afilter', session],
      ['?agent_id=other', agent],
      [`?schedule_id=${schedule}`, planned],
    ] as const) {
      const again = await readEvents(world.app, query, { after: from })
      await again.many(live.events.length)
      expect(again.events).toEqual(live.events)
      again.close()
    }
    const one = await readEvents(world.app, `?run_id=${mine}`, { after: from })
    expect((await one.many(3)).map(statusOf)).toEqual(['queued', 'running', 'success'])
    for (const reader of [all, session, agent, planned, kinds, one]) reader.close()
  })

  it.each([
    ['?kinds=run.change', '/kinds'],
    ['?kind=run.changed', '/kind'],
    ['?run_id=', '/run_id'],
    ['?last_event_id=yesterday', '/last_event_id'],
  ])('that is wrong is refused: %s', async (query, pointer) => {
    expect(pointersIn(await world.ask('GET', `/api/v1/events${query}`))).toEqual([pointer])
  })

  it('is refused for kinds that the key may not see, and leaves them out when none are named', async () => {
    KEYS.set('planner', aPrincipal('owner', { scopes: ['schedules:read', 'schedules:write'] }))
    problemIn(await world.ask('GET', '/api/v1/events?kinds=lane.changed', { as: 'planner' }), 'FORBIDDEN')
    KEYS.set('keeper', aPrincipal('owner', { scopes: ['keys:read'] }))
    problemIn(await world.ask('GET', '/api/v1/events', { as: 'keeper' }), 'FORBIDDEN')
    const reader = await readEvents(world.app, '', { as: 'planner' })
    const all = await readEvents(world.app)
    await all.one(isEnded(await say('chat:planner')))
    await world.ask('POST', '/api/v1/schedules', { body: { name: 'p', every_seconds: 3_600 } })
    await reader.many(1)
    expect(reader.events.map(({ event: kind }) => kind)).toEqual(['schedule.changed'])
    reader.close()
    all.close()
  })
})

describe('an id', () => {
  it('that is no id is refused', async () => {
    const response = await world.ask('GET', '/api/v1/events', { headers: { 'last-event-id': '1-2-3' } })
    expect(pointersIn(response)).toEqual(['/Last-Event-ID'])
  })

  it.each(['999999999', '999999999-3'])(
    'of another history gives a reset, and what happens from then on: %s',
    async (after) => {
      const reader = await readEvents(world.app, '', { after })
      const [reset] = await reader.many(1)
      expect(reset).toMatchObject({ event: 'reset', data: { reason: 'unknown', asked: after, id: reader.lastId() } })
      const id = await say('chat:reset')
      await reader.one(isEnded(id))
      expect(about(reader.events, id).map(statusOf)).toEqual(['queued', 'running', 'success'])
      reader.close()
    },
  )

  it('that is older than what is kept gives a reset', async () => {
    const reader = await readEvents(world.app)
    await reader.one(isEnded(await say('chat:old')))
    reader.close()
    const newest = Number(reader.lastId().split('-')[0])
    await world.engine.ports.database.query('delete from turn where org_id = $1 and no < $2', [ORG, newest])
    for (const after of ['1', '1-0', `${newest - 2}`, `${newest - 1}-0`]) {
      const late = await readEvents(world.app, '', { after })
      const [reset] = await late.many(1)
      expect(reset).toMatchObject({ event: 'reset', data: { reason: 'too_old', asked: after } })
      late.close()
    }
    // All of the turn before was told, so nothing is missing.
    const intime = await readEvents(world.app, '', { after: `${newest - 1}` })
    await intime.many(1)
    expect(intime.events[0]?.id.split('-')[0]).toBe(String(newest))
    intime.close()
  })
})

describe('whoever listens', () => {
  it('hears nothing of other orgs', async () => {
    await world.engine.ports.database.query(
      `insert into org (id, name, created_at) values ($1, 'other', '2026-01-01Z') on conflict do nothing`,
      [OTHER_ORG],
    )
    const [mine, theirs] = [await readEvents(world.app), await readEvents(world.app, '', { as: 'stranger' })]
    const watched = await readEvents(world.app, `?run_id=${await say('chat:mine')}`, { as: 'stranger', after: '0' })
    await mine.one(isEnded(await say('chat:mine')))
    await pause(300)
    expect([...theirs.events, ...watched.events]).toEqual([])
    for (const reader of [mine, theirs, watched]) reader.close()
  })

  it('is cut off when the key stops working', async () => {
    const gone = new Set<string>()
    world.change({ authenticate: (text) => (gone.has(text) ? null : (KEYS.get(text) ?? null)) })
    const [kept, ended] = [await readEvents(world.app), await readEvents(world.app, '', { as: 'viewer' })]
    gone.add('viewer')
    await createKey(world.engine.ports, { orgId: ORG, principal: null }, { name: 'another' })
    await ended.ended
    await kept.one(isEnded(await say('chat:kept')))
    kept.close()
  })

  it('hears of what another node does', async () => {
    const other = await createLiveWorld(agents, { database: world.database })
    try {
      const [here, there] = [await readEvents(world.app), await readEvents(other.app)]
      const [a, b] = [await say('chat:here'), await say('chat:there', 'hello', other)]
      for (const reader of [here, there])
        for (const id of [a, b]) {
          await reader.one(isEnded(id))
          expect(about(reader.events, id).map(statusOf)).toEqual(['queued', 'running', 'success'])
        }
      here.close()
      there.close()
    } finally {
      await other.close()
    }
  })
})

describe('a node with little room', () => {
  it('has every place back when a connection with streams behind each other is closed', async () => {
    const few = await createLiveWorld(agents)
    try {
      const port = await listen(few.app)
      const request = `GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer owner\r\n\r\n`
      const socket = connect(port, '127.0.0.1')
      socket.write(request.repeat(3))
      await expect.poll(few.events.size).toBe(3)
      socket.destroy()
      await expect.poll(few.events.size).toBe(0)
    } finally {
      await few.close()
    }
  })

  it('cuts off who reads too slowly, tells the others everything, and takes no more than it can', async () => {
    const small = await createLiveWorld(agents, {
      limits: { maxUnsentBytes: 20_000 },
      most: () => ({ all: 3, perOrg: 3 }),
    })
    try {
      const burst = await Promise.all(Array.from({ length: 8 }, () => readEvents(small.app)))
      expect(burst.filter(({ status }) => status === 200)).toHaveLength(3)
      for (const one of burst) one.close()
      await expect.poll(small.events.size).toBe(0)
      const slow = await readEvents(small.app)
      const quick = await readEvents(small.app)
      slow.stall()
      const third = await readEvents(small.app)
      await listen(small.app)
      problemIn(await small.ask('GET', '/api/v1/events'), 'RATE_LIMITED')
      third.close()
      await expect.poll(small.events.size).toBe(2)
      // What the system keeps for a connection comes first; that is a few megabytes.
      const data = { output: 'x'.repeat(60_000) }
      let rounds = 0
      for (; rounds < 1_000 && small.events.size() === 2; rounds += 1)
        await small.engine.ports.commands.execute({
          orgId: ORG,
          apply: (desk) => void desk.changes.events.push({ kind: 'run.output', subject: 'run_x', data }),
        })
      expect(small.events.size()).toBe(1)
      await quick.many(rounds)
      const id = await say('chat:room', 'hello', small)
      await quick.one(isEnded(id))
      const again = await readEvents(small.app, '?kinds=run.changed')
      expect(again.status).toBe(200)
      again.close()
      quick.close()
      slow.close()
    } finally {
      await small.close()
    }
  })

  it('ends every stream when it goes down', async () => {
    const short = await createLiveWorld(agents)
    const readers = await Promise.all(Array.from({ length: 5 }, () => readEvents(short.app)))
    await short.close()
    await Promise.all(readers.map(({ ended }) => ended))
  })
})

describe('a node that is not told of turns', () => {
  it('looks for them with every heartbeat, and tells each of them once', async () => {
    const deaf = await createLiveWorld(agents, { deaf: true, limits: { heartbeatMs: 50 } })
    try {
      const readers = await Promise.all(
        ['', '?session=chat%3Adeaf', '?agent_id=worker'].map((query) => readEvents(deaf.app, query)),
      )
      const id = await say('chat:deaf', 'hello', deaf)
      for (const reader of readers) {
        await reader.one(isEnded(id))
        expect(reader.events.map(statusOf)).toEqual(['queued', 'running', 'success'])
        reader.close()
      }
    } finally {
      await deaf.close()
    }
  })

  it('reads those it has missed when it is told of a later one', async () => {
    const deaf = await createLiveWorld(agents, { deaf: true })
    try {
      const readers = await Promise.all(['', '?session=chat%3Agap'].map((query) => readEvents(deaf.app, query)))
      const database = deaf.engine.ports.database
      const ran = async () => (await deaf.ask('GET', `/api/v1/runs/${id}`)).json<{ status: string }>().status
      const history = () => loadTransactionsAfter(database, { orgId: ORG, after: 0, limit: 1_000 })
      const before = await history()
      const id = await say('chat:gap', 'hello', deaf)
      await expect.poll(ran).toBe('success')
      const last = before.at(-1)
      if (last !== undefined) deaf.events.publish(ORG, last)
      const [newest] = (await history()).slice(-1)
      if (newest !== undefined) deaf.events.publish(ORG, newest)
      for (const reader of readers) {
        await reader.one(isEnded(id))
        expect(reader.events.map(statusOf)).toEqual(['queued', 'running', 'success'])
        reader.close()
      }
    } finally {
      await deaf.close()
    }
  })
})
