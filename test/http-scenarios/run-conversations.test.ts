import { describe, expect } from 'vitest'
import type { Dispatch } from '../../src/executors/dispatch.ts'
import { json, startPeer, type Answering, type Heard, type Peer } from '../platform/outbound/peer.ts'
import { chat, ended, inState, refused, send } from '../scenarios/support.ts'
import { scenario, type Remote, type World } from './world.ts'

// What a runtime is told about the conversation of a run, and what is kept of what it answers.

const dispatchOf = ({ body }: Heard): Dispatch => JSON.parse(body) as Dispatch

/** A server with an agent `worker`, and a daily schedule of it. */
async function withSchedule(
  world: World,
  answer: Answering,
  play: (node: Remote, peer: Peer, schedule: string) => Promise<void>,
  more: object = {},
): Promise<void> {
  const peer = await startPeer(answer)
  try {
    const node = await world.start({ outbound: { allow_loopback: true } })
    const executor = { kind: 'http', url: `${peer.url}/work` } as const
    await node.agents.create({ id: 'worker', name: 'Worker', executor, retry_policy: { max_retries: 0 } })
    const { id } = await node.schedules.create({ agent_id: 'worker', every_seconds: 86_400, payload: 'look', ...more })
    await play(node, peer, id)
  } finally {
    await peer.close()
  }
}

const runNow = async (node: Remote, schedule: string): Promise<string> =>
  (await node.schedules.runNow(schedule)).run_id ?? ''

const keyOf = (schedule: string, run: string): string => `agent:worker:cron:${schedule}:run:${run}`

const done: Answering = (_, response) => json(response, 200, { status: 'success', output: 'done' })

describe.concurrent('a run of a schedule with isolated runs', () => {
  scenario('has a session of its own, which its runtime is told', async (world) => {
    await withSchedule(world, done, async (node, peer, schedule) => {
      const first = await runNow(node, schedule)
      const run = await ended(node, first)
      const key = keyOf(schedule, first)
      expect(run).toMatchObject({ session_id: key, session_key: key, conversation: key })
      const told = dispatchOf(peer.heard[0] as Heard)
      expect(told).toMatchObject({ session_id: key, trigger_type: 'scheduled', manual: true })
      const { last_run_at: at } = await node.schedules.get(schedule)
      expect(at).toBe(run.created_at)
      const again = await node.runs.retry(first, { force: true })
      await ended(node, again.id)
      expect(dispatchOf(peer.heard[1] as Heard).session_id).toBe(keyOf(schedule, again.id))
    })
  })

  scenario('begins that session with the first message to it, and lists show it only when asked', async (world) => {
    await withSchedule(world, done, async (node, _, schedule) => {
      const id = await runNow(node, schedule)
      await ended(node, id)
      const key = keyOf(schedule, id)
      await refused(node.sessions.get(key), 'NOT_FOUND')
      const before = await node.raw('GET', `/api/v1/sessions/${encodeURIComponent(key)}/messages`)
      expect(before.body).toMatchObject({ items: [{ run_id: id, text: 'look', reply: 'done' }] })
      const { run_id: reply } = await send(node, key, 'And then?')
      await ended(node, reply)
      const ids = async (query: string): Promise<readonly string[]> =>
        ((await node.raw('GET', `/api/v1/sessions${query}`)).body as { items: { key: string }[] }).items.map(
          (session) => session.key,
        )
      expect([await ids(''), await ids('?isolated=true')]).toEqual([[], [key]])
      const runs = await node.runs.list({ session: key })
      expect(runs.items.map((run) => run.id)).toEqual([reply, id])
      const others = await node.runs.list({ session: keyOf('sch_other', id) })
      expect(others.items).toEqual([])
    })
  })

  scenario(
    'is found there by what is sent while it works: it waits its turn, and /stop ends the run',
    async (world) => {
      const never: Answering = () => undefined
      await withSchedule(world, never, async (node, peer, schedule) => {
        const id = await runNow(node, schedule)
        await inState(node, id, 'running')
        const key = keyOf(schedule, id)
        const { run_id: later } = await send(node, key, { text: 'Go on', debounce_ms: 0 })
        expect(await node.runs.get(later)).toMatchObject({ status: 'queued' })
        expect(await node.sessions.stop(key)).toEqual({ stopped: 1, drained: 0 })
        expect(await ended(node, id)).toMatchObject({ status: 'cancelled' })
        await inState(node, later, 'running')
        expect(peer.heard).toHaveLength(2)
      })
    },
  )
})

describe.concurrent('what a runtime reports about its result', () => {
  scenario('is kept with the run: session, message and a summary in JSON', async (world) => {
    const summary = { rows: 3, ok: true }
    const answer: Answering = (_, response) =>
      json(response, 200, { status: 'success', session_id: 'sess-abc', message_id: 'msg-xyz', summary })
    await withSchedule(world, answer, async (node, _, schedule) => {
      const id = await runNow(node, schedule)
      const run = await ended(node, id)
      const key = keyOf(schedule, id)
      expect(run).toMatchObject({ session_id: 'sess-abc', message_id: 'msg-xyz', result_summary: summary, attempt: 1 })
      expect(run).toMatchObject({ session_key: key, conversation: key, agent_session_id: 'sess-abc' })
      await node.sessions.update('sess-abc', { cap: 3 })
      expect(await node.runs.get(id)).toMatchObject({ session_key: key, conversation: 'sess-abc' })
    })
  })

  scenario('is kept beside our error code, by attempt too, and runs are found by it', async (world) => {
    const long = 'x'.repeat(200)
    let heard = 0
    const answer: Answering = (_, response) =>
      json(response, 200, { status: 'failed', error_code: (heard += 1) === 1 ? 'MODEL_QUOTA' : long })
    const policy = { retry_policy: { max_retries: 1, strategy: 'fixed', base_ms: 1 } }
    await withSchedule(
      world,
      answer,
      async (node, _, schedule) => {
        const id = await runNow(node, schedule)
        const run = await ended(node, id)
        expect(run).toMatchObject({ error_code: 'agent_error', agent_error_code: 'x'.repeat(100) })
        const { attempts } = await node.runs.get(id)
        expect(attempts.map((attempt) => attempt.agent_error_code)).toEqual(['MODEL_QUOTA', 'x'.repeat(100)])
        const found = async (code: string) =>
          (await node.runs.list({ agent_error_code: code, schedule_id: schedule })).items.map((one) => one.id)
        expect([await found('x'.repeat(100)), await found('MODEL_QUOTA')]).toEqual([[id], []])
      },
      policy,
    )
  })
})

describe.concurrent('a message to an agent over HTTP', () => {
  scenario('comes with a trace and in one spelling, and states what it may need', async (world) => {
    await withSchedule(world, done, async (node, peer) => {
      const { run_id: id } = await send(node, chat('ann'), { text: 'Hello', max_tokens: 77, debounce_ms: 0 })
      await ended(node, id)
      const [heard] = peer.heard
      expect(heard?.headers['traceparent']).toMatch(/^00-[\da-f]{32}-[\da-f]{16}-01$/)
      const { payload } = dispatchOf(heard as Heard)
      expect(payload).toEqual({
        text: 'Hello',
        attachments: [],
        message_ids: [expect.any(String) as string],
        fields: { max_tokens: 77 },
      })
    })
  })

  scenario('is shown in the lane that serves it', async (world) => {
    await withSchedule(world, done, async (node) => {
      const lanes = ['nowhere', 'delegate', 'subagent']
      const shown = await Promise.all(
        lanes.map(async (lane, no) => {
          const { run_id: id } = await send(node, chat(`p${no}`), { text: 'Hello', lane, debounce_ms: 0 })
          return (await node.runs.get(id)).lane
        }),
      )
      expect(shown).toEqual(['main', 'team', 'subagent'])
    })
  })

  scenario('is refused when it is empty, or must end before it may begin', async (world) => {
    await withSchedule(world, done, async (node) => {
      const path = `/api/v1/sessions/${encodeURIComponent(chat('ann'))}/messages`
      const post = async (body: object) => {
        const { status, body: problem } = await node.raw('POST', path, { body })
        return [status, JSON.stringify(problem)] as const
      }
      expect(await post({ text: ' \n' })).toEqual([400, expect.stringContaining('is empty') as string])
      const [soon, later] = [60_000, 120_000].map((ms) => new Date(Date.now() + ms).toISOString())
      const wrong = { text: 'x', deadline: soon, not_before: later }
      expect(await post(wrong)).toEqual([400, expect.stringContaining('is before not_before') as string])
      expect((await post({ text: '', attachments: [{ name: 'a' }] }))[0]).toBe(202)
    })
  })
})
