import { describe, expect } from 'vitest'
import { isTerminal } from '../../src/domain/run/run-machine.ts'
import { Refusal } from '../../src/api/refusals.ts'
import type { Handler } from '../../src/executors/in-process/execute.ts'
import { createStage, labelOf } from './stage.ts'
import { chat, ended, endings, eventually, inState, nothingFor, refused, send, sendEach } from './support.ts'
import { scenario } from './world.ts'

// What programs hand in that nobody thought of. Whatever it is, it hurts itself only: nothing is done twice, nothing
// hangs, and what comes after it works.

const NUL = 'before\u0000after'
const HALF = 'half a character: \ud83d'

function circular(): object {
  const ring: Record<string, unknown> = {}
  ring['self'] = ring
  return ring
}

const OUTPUTS: Readonly<Record<string, () => unknown>> = {
  nothing: () => undefined,
  'a big integer': () => 2n ** 80n,
  'a ring': circular,
  'a function': () => () => 'never called',
  'a symbol': () => Symbol('s'),
  'a date that is none': () => new Date(Number.NaN),
  'a NUL': () => NUL,
  'a NUL in a key': () => ({ [NUL]: 1 }),
  'half a character': () => ({ text: HALF }),
  'no number': () => Number.NaN,
  'a megabyte': () => 'x'.repeat(1_000_000),
  'a deep nest': () => JSON.parse(`${'['.repeat(5_000)}${']'.repeat(5_000)}`) as unknown,
  'something that says no': () => ({
    toJSON: () => {
      throw new Error('no JSON of me')
    },
  }),
}

const FAILURES: Readonly<Record<string, () => unknown>> = {
  nothing: () => undefined,
  null: () => null,
  'a text': () => 'plain text',
  'a NUL': () => new Error(NUL),
  'half a character': () => new Error(HALF),
  'a long story': () => new Error('x'.repeat(1_000_000)),
  'a code of its own': () => Object.assign(new Error('x'), { code: 'ENOENT', status: 'teapot', retryable: 'maybe' }),
}

describe.concurrent('what a function gives back', () => {
  const handler: Handler = (attempt) => {
    const label = labelOf(attempt.payload)
    if (label in OUTPUTS) return OUTPUTS[label]?.()
    return 'after'
  }
  scenario(`may be ${Object.keys(OUTPUTS).join(', ')}: its run ends, and the next one works`, async (world) => {
    const node = await world.start({ agents: { worker: handler } })
    await node.agents.update('worker', { retry_policy: { max_retries: 0 } })
    const named = await Promise.all(
      Object.keys(OUTPUTS).map(async (name, n) => ({
        name,
        ids: await sendEach(node, chat(`s${n}`), [name, 'after']),
      })),
    )
    for (const { name, ids } of named) {
      const [run, after] = [await ended(node, ids[0] ?? ''), await ended(node, ids[1] ?? '')]
      expect(['success', 'failed'], name).toContain(run.status)
      expect(after.status, name).toBe('success')
    }
  })

  const failing: Handler = (attempt) => {
    const label = labelOf(attempt.payload)
    if (label === 'after') return 'after'
    throw FAILURES[label]?.()
  }
  scenario('may be nested too deep for a row: that is a malformed answer, and the next one works', async (world) => {
    const levels = ['10000', '100000', '400000']
    const deep: Handler = ({ payload }) => {
      const label = labelOf(payload)
      return label === 'after' ? 'after' : JSON.parse(`${'['.repeat(Number(label))}${']'.repeat(Number(label))}`)
    }
    const node = await world.start({ agents: { worker: deep } })
    await node.agents.update('worker', { retry_policy: { max_retries: 0 } })
    for (const name of levels) {
      const ids = await sendEach(node, chat(name), [name, 'after'])
      expect(await endings(node, ids), name).toEqual(['failed', 'success'])
      expect(await node.runs.get(ids[0] ?? ''), name).toMatchObject({ error_code: 'malformed_answer', attempt: 1 })
    }
  })

  scenario(`may be an error that is ${Object.keys(FAILURES).join(', ')}`, async (world) => {
    const node = await world.start({ agents: { worker: failing } })
    await node.agents.update('worker', { retry_policy: { max_retries: 0 } })
    for (const name of Object.keys(FAILURES)) {
      const ids = await sendEach(node, chat(name), [name, 'after'])
      expect(await endings(node, ids), name).toEqual(['failed', 'success'])
      expect((await node.runs.get(ids[0] ?? '')).error_code, name).toBe('agent_error')
    }
  })

  scenario('may be deferred twice, or after it was told to stop', async (world) => {
    const tokens: string[] = []
    const node = await world.start({
      agents: {
        worker: async (attempt, context) => {
          if (labelOf(attempt.payload) === 'late') {
            await new Promise((resolve) => {
              context.signal.addEventListener('abort', resolve)
            })
            return context.defer()
          }
          tokens.push((await context.defer()).token)
          return context.defer()
        },
      },
    })
    const { run_id: late } = await send(node, chat('a'), 'late')
    await inState(node, late, 'running')
    await node.runs.cancel(late)
    expect((await ended(node, late)).status).toBe('cancelled')
    const { run_id: twice } = await send(node, chat('b'), 'twice')
    await eventually(() => expect(tokens).toHaveLength(1))
    await nothingFor(100)
    await node.callbacks.settle(tokens[0] ?? '', { status: 'success' })
    expect(isTerminal((await ended(node, twice)).status)).toBe(true)
  })
})

describe.concurrent('what a caller hands in', () => {
  scenario('is refused with a reason or taken, never half of each', async (world) => {
    const stage = createStage({ open: true })
    const node = await world.start({ agents: { worker: stage.handler } })
    const key = chat('s')
    const calls: readonly (() => Promise<unknown>)[] = [
      () => node.sessions.send(key, NUL),
      () => node.sessions.send(key, HALF),
      () => node.sessions.send(key, { text: 'x', attachments: [circular()] }),
      () => node.sessions.send(key, { text: 'x', attachments: [2n] }),
      () => node.sessions.send(key, { text: 'x', sender: NUL, debounce_ms: 0 }),
      () => node.sessions.send('', 'no session'),
      () => node.sessions.send('x'.repeat(600), 'a long session'),
      () => node.sessions.send(`agent:worker:${NUL}`, 'a strange session'),
      () => node.sessions.send(chat('s', 'nobody'), 'no such agent'),
      () => node.sessions.send(key, { text: 'x', message_id: NUL }),
      () => node.tasks.submit({ agentId: 'worker', action: NUL }),
      () => node.tasks.submit({ agentId: 'worker', action: 'x', params: { deep: circular() } }),
      () => node.tasks.submit({ agentId: NUL, action: 'x' }),
      () => node.tasks.submit({ agentId: 'worker', action: 'x', deadline: 'tomorrow' }),
      () => node.schedules.create({ agent_id: 'worker', cron: '0 0 1 1 *', payload: { [NUL]: HALF } }),
      () => node.schedules.create({ agent_id: 'worker', cron: '0 0 1 1 *', name: NUL }),
      () => node.schedules.create({ agent_id: 'nobody', cron: '0 0 1 1 *' }),
      () => node.runs.get(NUL),
      () => node.runs.list({ session: NUL }),
      () => node.runs.list({ cursor: 'nonsense' }),
      () => node.runs.list({ limit: -1 }),
      () => node.callbacks.settle(NUL, { status: 'success' }),
    ]
    const unexpected: string[] = []
    for (const call of calls) {
      const error: unknown = await call().then(
        () => null,
        (reason: unknown) => reason,
      )
      if (error instanceof Error && !(error instanceof Refusal))
        unexpected.push(`${call.toString()} → ${error.message}`)
    }
    expect(unexpected).toEqual([])
    const { run_id: id } = await send(node, chat('after'), 'after')
    expect((await ended(node, id)).status).toBe('success')
    expect(world.log.filter((entry) => entry.level === 'error')).toEqual([])
  })

  scenario('and is bad harms nobody who hands in at the same time', async (world) => {
    const node = await world.start({ agents: { worker: () => 'done' } })
    const answers = await Promise.allSettled(
      Array.from({ length: 20 }, (_, n) => node.sessions.send(chat(String(n)), n % 4 === 0 ? NUL : 'good')),
    )
    for (const [n, answer] of answers.entries()) if (n % 4 !== 0) expect(answer.status, String(n)).toBe('fulfilled')
  })
})

describe.concurrent('what a program attaches', () => {
  scenario('a listener that throws: nothing is done twice, and everybody else hears', async (world) => {
    const stage = createStage({ open: true })
    const node = await world.start({ agents: { worker: stage.handler } })
    const heard: string[] = []
    node.on('run.changed', () => {
      throw new Error('a listener that throws')
    })
    node.on('run.changed', (event) => void heard.push(event.subject))
    const { run_id: id } = await send(node, chat('s'), 'work')
    expect((await ended(node, id)).status).toBe('success')
    expect(stage.started()).toEqual(['work'])
    expect((await node.runs.list()).items.map((run) => run.id)).toEqual([id])
    await eventually(() => expect(heard).toContain(id))
  })

  scenario('an estimator that throws, or answers nonsense: nothing is throttled, nothing stops', async (world) => {
    const stage = createStage({ open: true })
    let asked = 0
    const node = await world.start({
      agents: { worker: stage.handler },
      estimateTokens: () => {
        asked += 1
        if (asked % 2 === 0) throw new Error('no idea')
        return { tokens: Number.NaN, contextWindow: 0 }
      },
    })
    const ids = await sendEach(node, chat('s'), ['1', '2', '3'])
    expect(await endings(node, ids)).toEqual(['success', 'success', 'success'])
    expect(stage.started()).toEqual(['1', '2', '3'])
  })

  scenario('a log that throws: work goes on', async (world) => {
    const node = await world.start({
      agents: { worker: (_, context) => context.progress('saying something') },
      log: () => {
        throw new Error('no room for logs')
      },
    })
    const { run_id: id } = await send(node, chat('s'), 'work')
    expect((await ended(node, id)).status).toBe('success')
  })

  scenario('settings that make no sense: refused whole', async (world) => {
    const node = await world.start({ agents: { worker: () => 'done' }, lanes: { main: 3 } })
    expect(() => node.reload({ lanes: { main: 5 }, sessions: { cap: -1 } })).toThrow(Refusal)
    expect((await node.lanes.list()).items.find((lane) => lane.name === 'main')?.concurrency).toBe(3)
    await refused(node.lanes.set('main', { concurrency: 0 }), 'VALIDATION')
    await refused(node.lanes.set('', { concurrency: 3 }), 'VALIDATION')
    await expect(world.start({ node: { lease_ms: 1_000, renew_ms: 2_000 } })).rejects.toThrow(/renew_ms/)
  })
})
