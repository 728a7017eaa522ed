import { expect, vi } from 'vitest'
import { startModelServer, type ModelServer } from '../executors/model-server.ts'
import { json, startPeer, type Peer } from '../platform/outbound/peer.ts'
import { scenario, type Remote, type World } from './world.ts'

/** What the probes of the tests ask: each path answers as it is named. */
const startAsked = (): Promise<Peer> =>
  startPeer((heard, response) => {
    if (heard.url === '/broken') json(response, 500, { error: 'no' })
    else json(response, 200, { open: heard.url === '/open' ? 2 : 0 })
  })

const startModel = (): Promise<ModelServer> =>
  startModelServer(({ say, finish }) => {
    say('done')
    finish({ usage: { prompt_tokens: 90, completion_tokens: 10 } })
  })

interface Stage {
  readonly node: Remote
  readonly asked: Peer
  readonly model: ModelServer
}

async function onStage(world: World, play: (stage: Stage) => Promise<void>): Promise<void> {
  const [asked, model] = await Promise.all([startAsked(), startModel()])
  const outbound = { allow_hosts: [`127.0.0.1:${asked.port}`, `127.0.0.1:${model.port}`] }
  const commands = { enabled: true, programs: ['/bin/true', '/bin/false'], directories: ['/tmp'] }
  const node = await world.start({ outbound, executors: { command: commands } })
  try {
    await play({ node, asked, model })
  } finally {
    await Promise.all([asked.close(), model.close()])
  }
}

const WHEN = { path: '/open', op: '>', value: 0 }

const until = <T>(look: () => Promise<T>): Promise<T> => vi.waitFor(look, { timeout: 20_000, interval: 50 })

scenario('a probe that says no costs no model call, of schedules and of heartbeats; yes costs one', async (world) => {
  await onStage(world, async ({ node, asked, model }) => {
    const { client } = node
    await client.agents.create({
      name: 'Model',
      id: 'model',
      executor: { kind: 'chat', base_url: model.baseUrl, model: 'm' },
    })
    const make = (name: string, probe: object, more: object = {}) =>
      client.schedules.create({
        ...{ name, agent_id: 'model', every_seconds: 3_600, anchor: new Date(Date.now() + 700).toISOString() },
        ...{ payload: name, probe: probe as never, retry_policy: { max_retries: 0 }, ...more },
      })
    const url = (path: string) => `http://127.0.0.1:${asked.port}${path}`
    const made = await Promise.all([
      make('no', { kind: 'http', url: url('/closed'), when: WHEN }),
      make('yes', { kind: 'http', url: url('/open'), when: WHEN }),
      make('error', { kind: 'http', url: url('/broken') }),
      make('fail', { kind: 'http', url: url('/broken'), on_error: 'fail' }),
      make('false', { kind: 'command', program: '/bin/false' }),
      make('true', { kind: 'command', program: '/bin/true' }),
      make('never', { kind: 'state', when: { path: '/schedule/failure_streak', op: '>=', value: 1 } }),
    ])
    await client.agents.create({ name: 'Hand', id: 'hand', executor: { kind: 'worker' } })
    const handed = await make('hand', { kind: 'http', url: url('/closed'), when: WHEN }, { agent_id: 'hand' })
    const claimed = client.worker.claim({ agents: ['hand'], capacity: 1, wait_seconds: 20 })
    await client.heartbeat.set('model', {
      ...{ interval_seconds: 1, checklist: { text: 'look at the inbox' }, target: 'none' },
      probe: { kind: 'http', url: url('/closed'), when: WHEN },
    })
    const ended = await until(async () => {
      const runs = await Promise.all(made.map(async ({ id }) => (await client.schedules.runs(id)).items[0]))
      expect(runs.every((run) => run !== undefined && run.finished_at !== null)).toBe(true)
      return runs
    })
    expect(ended.map((run) => [run?.status, run?.reason, run?.error_code])).toEqual([
      ['success', 'probe_no', null],
      ['success', 'completed', null],
      ['success', 'completed', null],
      ['failed', 'retries_exhausted', 'probe_failed'],
      ['success', 'probe_no', null],
      ['success', 'completed', null],
      ['success', 'probe_no', null],
    ])
    const beat = await until(async () => {
      const [entry] = (await client.heartbeat.log('model')).items.filter(({ reason }) => reason === 'probe_no')
      expect(entry).toBeDefined()
      return entry
    })
    expect(beat?.outcome).toBe('suppressed')
    const prompts = model.questions().map(({ messages }) => messages.at(-1)?.content)
    expect(prompts.toSorted()).toEqual(['error', 'true', 'yes'])

    const { attempts } = await claimed
    expect(await client.worker.start(attempts[0]?.attempt_id ?? '')).toMatchObject({ status: 'success', cancel: true })
    expect((await client.schedules.runs(handed.id)).items).toMatchObject([{ status: 'success', reason: 'probe_no' }])

    const [no, yes, error] = ended
    const detail = await client.runs.get(no?.id ?? '')
    expect(detail).toMatchObject({ usage: null, output: null, probe: { answer: 'no', sentence: '/open is 0' } })
    expect((await client.runs.get(yes?.id ?? '')).probe).toMatchObject({ answer: 'yes', seen: '{"open":2}' })
    expect((await client.runs.get(error?.id ?? '')).probe).toMatchObject({ answer: 'error' })
    const why = await client.runs.explain(no?.id ?? '')
    expect(why.sentence).toBe(`The agent did not run: GET ${url('/closed')} was checked first, and /open is 0.`)
    expect(why.steps.find(({ name }) => name === 'probe')?.state).toBe('closed')
    const counted = await client.schedules.get(made[0].id)
    expect(counted.probe_counts).toMatchObject({ asked: 1, saved: 1, errors: 0, last_answer: 'no' })
    expect((await client.stats.get()).probes).toMatchObject({ errors: 2 })
    const told = await fetch(`${node.url}/metrics`, { headers: { authorization: `Bearer ${node.key}` } })
    expect(await told.text()).toMatch(/^escapement_probes_total\{answer="error"\} 2$/m)
    await client.schedules.runNow(made[0].id, { mode: 'force' })
    await vi.waitFor(() => expect(model.questions().length).toBe(4), { timeout: 20_000 })
  })
})
