import { readFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClient, type Client } from '../../src/client/client.ts'
import type { EventView } from '../../src/features/events/schema.ts'
import { startModelServer, type ModelServer, type Speaking } from '../executors/model-server.ts'
import { createCheckedClient, surfaceOf } from '../http-scenarios/remote.ts'
import type { Surface } from '../scenarios/both/world.ts'
import { json } from '../platform/outbound/peer.ts'
import { chat, ended, eventually, inState, nothingFor, refused, send, sendEach } from '../scenarios/support.ts'
import { createServeWorld, type ServeWorld } from '../serve/support.ts'

// Models are real servers on this machine that speak when the test says so; one server asks them all.

interface Node extends Surface {
  readonly client: Client
  readonly url: string
  readonly key: string
}

let world: ServeWorld
let node: Node

beforeAll(async () => {
  world = await createServeWorld()
  const url = await world.serve({ variables: { ESCAPEMENT_OUTBOUND_ALLOW_LOOPBACK: 'true' } }).url
  const key = readFileSync(path.join(world.data, 'owner.key'), 'utf8').trim()
  const client = createCheckedClient(url, key)
  node = { ...surfaceOf(client), client, url, key }
}, 60_000)
afterAll(() => world.end())

interface Talks {
  readonly agent: string
  readonly model: ModelServer
  /** The n-th question, counted from 0, once it has been asked; it is answered by hand. */
  readonly asked: (n: number) => Promise<Speaking>
  /** What the model was told with the n-th question. */
  readonly told: (n: number) => readonly string[]
}

/** Plays with an agent and a model of its own. */
async function withModel(
  agent: string,
  play: (talks: Talks) => Promise<void>,
  { window = null, ...executor }: { readonly window?: number | null; readonly [option: string]: unknown } = {},
): Promise<void> {
  const talks: Speaking[] = []
  const model = await startModelServer((speaking) => void talks.push(speaking))
  try {
    await node.agents.create({
      ...{ id: agent, name: 'Model', context_window: window },
      executor: { kind: 'chat', base_url: model.baseUrl, model: 'tiny', ...executor },
    })
    const told: Talks['told'] = (n) =>
      (talks[n]?.question.messages ?? []).map(({ role, content }) => `${role}: ${String(content)}`)
    const asked: Talks['asked'] = (n) =>
      eventually(() => {
        const talk = talks[n]
        if (talk === undefined) throw new Error(`asked ${talks.length} times`)
        return talk
      })
    await play({ agent, model, asked, told })
  } finally {
    await model.close()
  }
}

const answer = (talk: Speaking, text: string, tokens = 10): void => {
  talk.say(text)
  talk.finish({ usage: { prompt_tokens: tokens - 1, completion_tokens: 1 } })
}

/** Listens until the test is over, and keeps what it hears. */
async function listen(session: string): Promise<{ readonly heard: EventView[]; end: () => void }> {
  const over = new AbortController()
  const heard: EventView[] = []
  await new Promise<void>((resolve) => {
    const stream = createClient(node).events(
      { session, kinds: ['run.output', 'run.changed', 'outbound'] },
      { signal: over.signal, onOpen: resolve },
    )
    void (async () => {
      for await (const event of stream) if (event.kind !== 'reset') heard.push(event)
    })()
  })
  return { heard, end: () => over.abort() }
}

const wordsIn = (heard: readonly EventView[]): string =>
  heard
    .filter(({ kind }) => kind === 'run.output')
    .flatMap(({ data }) => data['output'] as readonly string[])
    .join('')

describe.concurrent('a conversation with a model', () => {
  it('asks another model when a run is repeated with one, and again when that is repeated', async () => {
    await withModel('choosing', async ({ agent, asked }) => {
      const { run_id: id } = await send(node, chat('ann', agent), 'Hello')
      answer(await asked(0), 'Hi')
      await ended(node, id)
      const other = await node.client.runs.retry(id, { force: true, model: 'large' })
      answer(await asked(1), 'Hi, more or less')
      expect(await ended(node, other.id)).toMatchObject({ status: 'success', output: 'Hi, more or less' })
      const third = await node.client.runs.retry(other.id, { force: true, prompt: 'Hello again' })
      const talk = await asked(2)
      answer(talk, 'Hi')
      await ended(node, third.id)
      expect([(await asked(1)).question.model, talk.question.model]).toEqual(['large', 'large'])
      expect(String(talk.question.messages.at(-1)?.content)).toContain('Hello again')
      expect((await node.client.runs.get(third.id)).edits).toEqual({ parts: ['prompt'], model: 'large' })
    })
  })

  it('shows its words live, counts its tokens, and remembers what was said', async () => {
    await withModel(
      'remembering',
      async ({ agent, asked, told }) => {
        const key = chat('ann', agent)
        const stream = await listen(key)
        const { run_id: id } = await send(node, key, 'Hello')
        const first = await asked(0)
        first.say('Good', ' morn')
        // It is heard while it is said: the model has not ended yet.
        await eventually(() => expect(wordsIn(stream.heard)).toBe('Good morn'))
        expect((await node.runs.get(id)).status).toBe('running')
        first.say('ing')
        first.finish({ usage: { prompt_tokens: 20, completion_tokens: 4 } })
        expect(await ended(node, id)).toMatchObject({
          ...{ status: 'success', output: 'Good morning' },
          usage: { input_tokens: 20, output_tokens: 4, context_window: 1_000, cost: 0.00006 },
        })
        await eventually(() => expect(wordsIn(stream.heard)).toBe('Good morning'))
        stream.end()
        expect(await node.client.sessions.get(key)).toMatchObject({ tokens: 24, context_window: 1_000 })

        const { run_id: next } = await send(node, key, 'And now?')
        answer(await asked(1), 'Still morning')
        await ended(node, next)
        expect(told(0)).toEqual(['system: Be brief.', 'user: Hello'])
        expect(told(1)).toEqual(['system: Be brief.', 'user: Hello', 'assistant: Good morning', 'user: And now?'])
        const { items } = await node.client.sessions.messages(key)
        expect(items.map(({ text, reply, status }) => [text, reply, status])).toEqual([
          ['And now?', 'Still morning', 'success'],
          ['Hello', 'Good morning', 'success'],
        ])

        // Another session knows nothing of it, and a reset begins anew.
        const others = [await send(node, chat('bob', agent), 'Who?'), null]
        answer(await asked(2), 'Nobody')
        await ended(node, others[0]?.run_id ?? '')
        await node.client.sessions.reset(key)
        expect(await node.client.sessions.get(key)).toMatchObject({ tokens: null, generation: 1 })
        const { run_id: anew } = await send(node, key, 'Again')
        answer(await asked(3), 'Hello')
        await ended(node, anew)
        expect([told(2), told(3)]).toEqual([
          ['system: Be brief.', 'user: Who?'],
          ['system: Be brief.', 'user: Again'],
        ])

        // A schedule without a session of its own has no past either, nor leaves one.
        const { id: schedule } = await node.schedules.create({
          ...{ agent_id: agent, cron: '0 0 1 1 *', payload: { prompt: 'Look' } },
        })
        const { run_id: due = '' } = await node.schedules.runNow(schedule)
        answer(await asked(4), 'Seen')
        const seen = await ended(node, due)
        expect(seen).toMatchObject({ status: 'success', output: 'Seen' })
        expect(told(4)).toEqual(['system: Be brief.', 'user: Look'])
        // The run is the beginning of a conversation of its own.
        const { run_id: more } = await send(node, seen.session_key ?? '', 'More?')
        answer(await asked(5), 'No')
        await ended(node, more)
        expect(told(5)).toEqual(['system: Be brief.', 'user: Look', 'assistant: Seen', 'user: More?'])
      },
      { window: 1_000, system_prompt: 'Be brief.', prices: { input: 2, output: 5 } },
    )
  })

  it('is cut by /stop: the model sees it, one empty outbound, and what was said is kept', async () => {
    await withModel('stopped', async ({ agent, model, asked, told }) => {
      const key = chat('ann', agent)
      const stream = await listen(key)
      const [id = '', waiting = ''] = await sendEach(node, key, ['Count', 'Then'])
      const first = await asked(0)
      first.say('one two')
      await eventually(() => expect(wordsIn(stream.heard)).toBe('one two'))
      expect(model.dropped()).toBe(0)
      expect(await node.sessions.send(key, '/stop')).toEqual({ stopped: 1, drained: 0 })
      await eventually(() => expect(model.dropped()).toBe(1))
      const run = await ended(node, id)
      expect(run).toMatchObject({ status: 'cancelled', reason: 'stopped', output: 'one two' })
      expect(run.usage).toMatchObject({ output_tokens: 6 })
      // What waited goes on, and knows how far the other came.
      answer(await asked(1), 'Then.')
      expect(await ended(node, waiting)).toMatchObject({ status: 'success' })
      expect(told(1)).toEqual(['user: Count', 'assistant: one two', 'user: Then'])
      await eventually(() => expect(wordsIn(stream.heard)).toBe('one twoThen.'))
      stream.end()
      const empty = stream.heard.filter(({ kind, data }) => kind === 'outbound' && data['empty'] === true)
      expect(empty.map(({ subject }) => subject)).toEqual([id])
    })
  })

  it('runs one message at a time in a DM, and from 60 % of the window on in a group', async () => {
    await withModel(
      'crowded',
      async ({ agent, model, asked }) => {
        const dm = await sendEach(node, chat('ann', agent), ['a', 'b'])
        const first = await asked(0)
        expect(await node.runs.get(dm[1] ?? '')).toMatchObject({ status: 'queued' })
        first.say('half')
        await nothingFor(120)
        expect(model.heard).toHaveLength(1)
        answer(first, ' whole')
        answer(await asked(1), 'b')
        await ended(node, dm[1] ?? '')

        const group = chat('group', agent)
        await node.client.sessions.update(group, { max_concurrent: 3 })
        const three = await sendEach(node, group, ['1', '2', '3'])
        const talks = [await asked(2), await asked(3), await asked(4)]
        const later = await sendEach(node, group, ['4', '5'])
        // 59 of 100: another may join the two that are left.
        answer(talks[0] as Speaking, 'x', 59)
        const fourth = await asked(5)
        // 60 of 100: from now on one at a time.
        answer(talks[1] as Speaking, 'x', 60)
        await eventually(async () => expect((await node.client.sessions.get(group)).tokens).toBe(60))
        answer(talks[2] as Speaking, 'x', 60)
        await ended(node, three[2] ?? '')
        await nothingFor(120)
        expect(model.heard).toHaveLength(6)
        expect(await node.runs.get(later[1] ?? '')).toMatchObject({ status: 'queued' })
        answer(fourth, 'x', 60)
        answer(await asked(6), 'x', 60)
        expect(await ended(node, later[1] ?? '')).toMatchObject({ status: 'success' })
      },
      { window: 100 },
    )
  })
})

describe.concurrent('what a model uses', () => {
  it('counts against budgets, in tokens and in money', async () => {
    await withModel(
      'spending',
      async ({ agent, asked }) => {
        const scope = { agent_id: agent, period: 'day', on_exceed: 'skip' } as const
        const tokens = await node.client.budgets.create({ ...scope, unit: 'tokens', amount: 30 })
        const money = await node.client.budgets.create({ ...scope, unit: 'money', amount: 1 })
        const { run_id: id } = await send(node, chat('ann', agent), 'Hello')
        answer(await asked(0), 'Hi', 30)
        await ended(node, id)
        const used = await Promise.all([tokens, money].map((budget) => node.client.budgets.get(budget.id)))
        expect(used.map((budget) => budget.spent)).toEqual([30, 0.000063])
        await refused(send(node, chat('ann', agent), 'More'), 'BUDGET')
      },
      { prices: { input: 2, output: 5 } },
    )
  })
})

describe.concurrent('a model that fails', () => {
  it('is asked again when that may help, as late as it says, and what failed is no part of it', async () => {
    await withModel('failing', async ({ agent, asked, told }) => {
      const policy = { strategy: 'fixed', base_ms: 1, jitter: 0, max_retries: 2 } as const
      await node.agents.update(agent, { retry_policy: policy })
      const key = chat('ann', agent)
      const stream = await listen(key)
      const { run_id: id } = await send(node, key, 'Hello')
      const first = await asked(0)
      first.say('half')
      await eventually(() => expect(wordsIn(stream.heard)).toBe('half'))
      first.send('data: {"error": {"message": "overloaded", "code": 503}}\n\n')
      const second = await asked(1)
      const from = performance.now()
      json(second.response, 429, { error: { message: 'slow down' } }, { 'retry-after': '1' })
      answer(await asked(2), 'Hi')
      expect(performance.now() - from).toBeGreaterThan(950)
      expect(await ended(node, id)).toMatchObject({ status: 'success', attempt: 3, output: 'Hi' })
      await eventually(() => expect(wordsIn(stream.heard)).toBe('halfHi'))
      stream.end()
      // Whoever shows words has to know that they begin anew.
      const sayings = stream.heard.filter(({ kind }) => kind === 'run.output').map(({ data }) => data)
      expect(sayings).toEqual([
        { attempt: 1, output: ['half'], ids: [expect.any(String)] },
        { attempt: 3, output: ['Hi'], ids: [expect.any(String)] },
      ])
      // They are the entries of the log, which is read when a page is opened later.
      const log = await node.client.runs.log(id)
      expect(log.items.map((entry) => [entry.attempt, entry.text])).toEqual([
        [1, 'half'],
        [3, 'Hi'],
      ])
      expect(log.items.map((entry) => [entry.id])).toEqual(sayings.map(({ ids }) => ids))
      const { attempts } = await node.client.runs.get(id)
      expect(attempts.map(({ error_code, error_message }) => [error_code, error_message])).toEqual([
        ['executor_http_5xx', 'overloaded'],
        [
          'executor_http_4xx',
          expect.stringMatching(/^the server answered 429: slow down \(it is retried under retry_policy; /),
        ],
        [null, null],
      ])

      // For good: nobody asks twice, and the next message does not repeat the one that failed.
      const { run_id: bad } = await send(node, key, 'Bad')
      json((await asked(3)).response, 404, { error: { message: 'no model tiny' } })
      const run = await ended(node, bad)
      expect(run).toMatchObject({ status: 'failed', attempt: 1, error_code: 'executor_http_4xx' })
      expect(run.error_message).toContain('check executor.model, "tiny"')
      const { run_id: good } = await send(node, key, 'Good')
      answer(await asked(4), 'Yes')
      await ended(node, good)
      expect(told(4)).toEqual(['user: Hello', 'assistant: Hi', 'user: Good'])

      // Repeated by hand, it is there once, in its new place.
      const again = await node.client.runs.retry(bad)
      answer(await asked(5), 'Better')
      await ended(node, again.id)
      expect(told(5)).toEqual(['user: Hello', 'assistant: Hi', 'user: Good', 'assistant: Yes', 'user: Bad'])
    })
  })

  it('that says it has nothing left is left alone until it has, though it has answered', async () => {
    const left = { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '5s' }
    await node.client.providers.create({ name: 'limited', requests_per_minute: 600 })
    await withModel('limited', async ({ agent, asked }) => {
      await node.agents.update(agent, { provider: 'limited' })
      const { run_id: first } = await send(node, chat('ann', agent), 'Hello')
      const talk = await asked(0)
      const from = performance.now()
      const answered = { choices: [{ index: 0, message: { content: 'Hi' }, finish_reason: 'stop' }] }
      json(talk.response, 200, answered, left)
      expect(await ended(node, first)).toMatchObject({ status: 'success', output: 'Hi' })
      const provider = await node.client.providers.get('limited')
      expect(provider).toMatchObject({ closed: { quota: 'retry_after' } })
      expect(provider.requests_left).toBeLessThan(100)
      const { run_id: second } = await send(node, chat('bob', agent), 'Hello')
      answer(await asked(1), 'Hi')
      expect(performance.now() - from).toBeGreaterThan(4_900)
      expect(await ended(node, second)).toMatchObject({ status: 'success', attempt: 1 })
    })
  })

  it('that is too busy for one agent is left alone by all that share it', async () => {
    await node.client.providers.create({ name: 'shared' })
    await withModel('busy', async ({ agent, asked, model }) => {
      await node.agents.update(agent, { provider: 'shared' })
      await node.agents.create({
        ...{ id: 'other', name: 'Other', provider: 'shared' },
        executor: { kind: 'chat', base_url: model.baseUrl, model: 'tiny' },
      })
      const { run_id: first } = await send(node, `agent:${agent}:api:dm:1`, 'Hello')
      const refusal = await asked(0)
      const from = performance.now()
      json(refusal.response, 429, { error: { message: 'slow down' } }, { 'retry-after': '1' })
      await inState(node, first, 'waiting')
      const { run_id: second } = await send(node, 'agent:other:api:dm:1', { text: 'Hello', debounce_ms: 0 })
      expect(await node.runs.explain(second)).toMatchObject({
        reason: 'provider_quota',
        evidence: { provider: 'shared', quota: 'retry_after', behind: 0 },
      })
      answer(await asked(1), 'Hi')
      expect(performance.now() - from).toBeGreaterThan(950)
      expect(await ended(node, second)).toMatchObject({ status: 'success' })
      expect(await node.client.providers.get('shared')).toMatchObject({ closed: null, agents: [agent, 'other'] })
      await node.runs.cancel(first)
    })
  })

  it('is told of before it is asked, when it cannot be right', async () => {
    const make = (options: { readonly base_url: string; readonly api_key?: string; readonly top_p?: number }) =>
      node.agents.create({ id: 'm', name: 'M', executor: { kind: 'chat', model: 'x', ...options } })
    const near = await refused(make({ base_url: 'http://10.1.2.3:9/v1' }), 'VALIDATION')
    expect(JSON.stringify(near)).toContain('outbound.allow_hosts')
    const wrong = await refused(
      make({ base_url: 'https://llm.example/v1', api_key: 'sk-canary', top_p: 1 }),
      'VALIDATION',
    )
    const { errors } = wrong as unknown as { readonly errors: readonly { readonly pointer: string }[] }
    expect(errors.map(({ pointer }) => pointer).toSorted()).toEqual(['/executor/api_key', '/executor/top_p'])
    expect(JSON.stringify(wrong)).not.toContain('sk-canary')
    await refused(node.agents.get('m'), 'NOT_FOUND')
    const made = await make({ base_url: 'https://llm.example/v1' })
    const { executor } = made
    if (executor.kind !== 'chat') throw new Error(executor.kind)
    const bad = node.agents.update('m', { executor: { ...executor, temperature: 3 } })
    await refused(bad, 'VALIDATION')
    const hotter = await node.agents.update('m', { executor: { ...executor, temperature: 1 } })
    expect(hotter.executor).toMatchObject({ temperature: 1, base_url: 'https://llm.example/v1' })
  })
})
