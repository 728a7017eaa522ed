import { expect } from 'vitest'
import type { RunDetail } from '../../../src/features/runs/schema.ts'
import type { AgentStub } from '../agent-stub.ts'
import { endings, eventOf, message, send, sendAll, sessionOf, setRules } from '../conversation.ts'
import type { Row } from '../row.ts'
import type { World } from '../world.ts'

const pathOf = (key: string, rest: string): string => `/api/v1/sessions/${encodeURIComponent(key)}/${rest}`

/** A session of two with three messages: two run and one waits. */
async function busySession(world: World): Promise<{ readonly agent: AgentStub; readonly ids: readonly string[] }> {
  const agent = await world.agent()
  agent.hold()
  const ids = await sendAll(world, agent.session(), ['1', '2', '3'], { max_concurrent: 2 })
  await world.until(() => agent.busy() === 2)
  return { agent, ids }
}

/** The run of a message that was cancelled while it ran, with the trace it was sent under. */
async function cancelledRun(world: World, traceId: string): Promise<RunDetail> {
  const agent = await world.agent()
  agent.hold()
  const answer = await world.post(
    pathOf(agent.session(), 'messages'),
    { text: 'hello', debounce_ms: 0 },
    { headers: { traceparent: `00-${traceId}-00f067aa0ba902b7-01` } },
  )
  const id = String(answer.body['run_id'])
  await world.until(() => agent.busy() === 1)
  await message(world, agent.session(), { text: '/stop' })
  await world.ended(id)
  return world.server.runs.get(id)
}

const finalizesTrace = async (world: World): Promise<void> => {
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
  const run = await cancelledRun(world, traceId)
  expect([run.status, run.trace_id]).toEqual(['cancelled', traceId])
  expect(run.timeline.at(-1)).toMatchObject({ status: 'cancelled' })
}

const countsGenerations = async (world: World): Promise<void> => {
  const agent = await world.agent()
  await world.ended(await send(world, agent.session(), 'hello'))
  expect(await sessionOf(world, agent.session())).toMatchObject({ generation: 0 })
  expect((await world.post(pathOf(agent.session(), 'reset'))).status).toBe(200)
  expect(await sessionOf(world, agent.session())).toMatchObject({ generation: 1 })
}

/** `/stop`, `/stopall`, and what they leave behind. */
export const STOPS: readonly Row[] = [
  {
    line: '93',
    says: '`/stop` and `/stopall` work in Telegram',
    shownBy: [
      'test/plane/telegram.test.ts',
      'a bot of Telegram › shows that it is at it, and /stop clears what it showed',
    ],
  },
  {
    line: '93',
    says: '`/stop` and `/stopall` work in other channels',
    check: async (world) => {
      const { agent, ids } = await busySession(world)
      expect((await message(world, agent.session(), { text: '/stop' })).body).toEqual({ stopped: 1, drained: 0 })
      await world.ended(ids[0] ?? '')
      await world.until(() => agent.dispatches.length === 3)
      expect(await world.rpc('sessions.stopall', { key: agent.session() })).toEqual({ stopped: 2, drained: 0 })
      expect((await world.post(pathOf(agent.session(), 'stop'))).body).toMatchObject({ drained: 0 })
    },
  },
  {
    line: '96',
    says: '`/stop` cancels the oldest running task, and the others go on',
    check: async (world) => {
      const { agent, ids } = await busySession(world)
      expect((await message(world, agent.session(), { text: '/stop' })).body).toEqual({ stopped: 1, drained: 0 })
      await world.ended(ids[0] ?? '')
      agent.release()
      expect(await endings(world, ids)).toEqual(['cancelled', 'success', 'success'])
    },
  },
  {
    line: '97',
    says: '`/stopall` cancels all running tasks and drains the queue',
    check: async (world) => {
      const { agent, ids } = await busySession(world)
      expect((await message(world, agent.session(), { text: '/stopall' })).body).toEqual({ stopped: 2, drained: 1 })
      expect(await endings(world, ids)).toEqual(['cancelled', 'cancelled', 'cancelled'])
      expect(agent.messages()).toHaveLength(2)
    },
  },
  {
    line: '99',
    says: 'The commands bypass the debouncer',
    check: async (world) => {
      const agent = await world.agent()
      await setRules(world, agent.session(), { debounce_ms: 5_000 })
      const sender = { sender: 'ann', debounce_ms: undefined }
      const id = await send(world, agent.session(), 'hello', sender)
      const stopped = await message(world, agent.session(), { text: '/stopall', ...sender })
      expect([stopped.status, stopped.body]).toEqual([200, { stopped: 0, drained: 1 }])
      expect((await world.ended(id)).status).toBe('cancelled')
    },
  },
  {
    line: '100',
    says: 'Cancelling reaches the agent',
    check: async (world) => {
      const { agent } = await busySession(world)
      await message(world, agent.session(), { text: '/stopall' })
      await world.until(() => agent.dropped() === 2)
    },
  },
  {
    line: '101',
    says: '`/stopall` sets a cutoff, and messages from before it are skipped later',
    check: async (world) => {
      const agent = await world.agent()
      await world.ended(await send(world, agent.session(), 'first'))
      const sentAt = new Date(Date.now() - 100).toISOString()
      await message(world, agent.session(), { text: '/stopall' })
      const late = await send(world, agent.session(), 'late', { sent_at: sentAt })
      expect(await world.ended(late)).toMatchObject({ status: 'cancelled', reason: 'stale' })
      expect(agent.messages()).toEqual(['first'])
    },
  },
  {
    line: '102',
    says: 'On cancel an empty outbound message is published',
    check: async (world) => {
      const event = await eventOf(world, { kinds: ['outbound'] }, async () => {
        const { agent, ids } = await busySession(world)
        await message(world, agent.session(), { text: '/stop' })
        return ({ subject }) => subject === ids[0]
      })
      expect(event.data).toMatchObject({ empty: true })
    },
  },
  { line: '103', says: 'The trace of a cancelled run is finished with status `cancelled`', check: finalizesTrace },
  {
    line: '104',
    says: 'Trace and collected output survive cancelling',
    shownBy: [
      'test/serve/traces.test.ts',
      'where spans are recorded › the attempt of a run that is cancelled ends its span, and the run keeps its trace and its output',
    ],
  },
  { line: '105', says: 'Each session counts its generations', check: countsGenerations },
  {
    line: '105',
    says: 'Completions of an old generation change nothing',
    shownBy: [
      'test/scenarios/drain-reset.test.ts',
      '13: a reset › makes a late completion change no counter and start nothing',
    ],
  },
  {
    line: '105',
    says: 'SIGUSR1 resets the sessions at work, and the process goes on',
    shownBy: ['test/serve/signals.test.ts', 'SIGUSR1 › resets the sessions at work, and the server goes on'],
  },
]
