import { describe, expect } from 'vitest'
import { diffLines } from '../../src/features/runs/retry.ts'
import { chat, ended, refused, send } from './support.ts'
import { scenario } from './world.ts'

describe.concurrent('a run that is repeated with changes', () => {
  const words = (payload: unknown): string => (payload as { readonly text: string }).text

  scenario('runs with another prompt, is linked to the original, and has the changes on record', async (world) => {
    const node = await world.start({ agents: { worker: ({ payload }) => `said ${words(payload)}` } })
    const { run_id: id } = await send(node, chat('s'), 'one')
    await ended(node, id)
    const again = await node.runs.retry(id, { force: true, prompt: 'two' })
    expect(again).toMatchObject({ trigger: 'retry', retry_of: id })
    expect(await ended(node, again.id)).toMatchObject({ status: 'success', output: 'said two' })
    const detail = await node.runs.get(again.id)
    expect(detail.edits).toEqual({ parts: ['prompt'], model: null })
    expect(detail.decision).toMatchObject({ reason: 'retried', evidence: { of: id, edited: 'prompt' } })
    // Everything else of the message stays, and the original is untouched.
    expect(detail.payload).toEqual({ ...((await node.runs.get(id)).payload as object), text: 'two' })
    expect((await node.runs.get(id)).edits).toBeNull()
    const [audit] = (await node.audit.list({ limit: 1 })).items
    expect(audit).toMatchObject({ action: 'run.retry', after: { run_id: again.id, edited: ['prompt'] } })
  })

  scenario('runs with another payload; without changes it is the same as ever', async (world) => {
    const node = await world.start({ agents: { worker: ({ payload }) => payload } })
    const { id: schedule } = await node.schedules.create({ agent_id: 'worker', cron: '0 0 1 1 *', payload: { n: 1 } })
    const { run_id: id = '' } = await node.schedules.runNow(schedule)
    await ended(node, id)
    const edited = await node.runs.retry(id, { force: true, payload: { n: 2 } })
    expect((await ended(node, edited.id)).output).toEqual({ n: 2 })
    const plain = await node.runs.retry(id, { force: true })
    expect((await ended(node, plain.id)).output).toEqual({ n: 1 })
    expect((await node.runs.get(plain.id)).edits).toBeNull()
    expect(await world.database.outside('select 1 from escapement.run_edit where run_id = $1', [plain.id])).toEqual([])
  })

  scenario(
    'is refused precisely when the changes contradict each other or the agent, and nothing is created',
    async (world) => {
      const node = await world.start({ agents: { worker: () => 'done' } })
      const { run_id: id } = await send(node, chat('s'), 'one')
      await ended(node, id)
      const before = (await node.runs.list()).items.length
      await refused(node.runs.retry(id, { force: true, prompt: 'a', payload: 'b' }), 'VALIDATION')
      await refused(node.runs.retry(id, { force: true, model: 'large' }), 'VALIDATION')
      await refused(node.runs.retry(id, { force: true, prompt: '' }), 'VALIDATION')
      const { id: schedule } = await node.schedules.create({ agent_id: 'worker', cron: '0 0 1 1 *', payload: [1, 2] })
      const { run_id: list = '' } = await node.schedules.runNow(schedule)
      await ended(node, list)
      await refused(node.runs.retry(list, { force: true, prompt: 'a' }), 'VALIDATION')
      expect((await node.runs.list()).items.length).toBe(before + 1)
    },
  )
})

describe.concurrent('two runs side by side', () => {
  scenario('show how their outputs, tokens and durations differ', async (world) => {
    const node = await world.start({
      agents: {
        worker: ({ payload }, { usage }) => {
          const { text } = payload as { readonly text: string }
          usage({ inputTokens: text.length, outputTokens: 2, costMicros: 1_000 })
          return `first\n${text}\nlast`
        },
      },
    })
    const { run_id: id } = await send(node, chat('s'), 'one')
    await ended(node, id)
    const { id: other } = await node.runs.retry(id, { force: true, prompt: 'another' })
    await ended(node, other)
    const compared = await node.runs.compare({ id, other })
    expect(compared).toMatchObject({ a: { id }, b: { id: other } })
    expect(compared.changes).toEqual({
      ...{ duration_ms: expect.any(Number) as number, input_tokens: 4, output_tokens: 0, cost: 0, attempts: 0 },
    })
    expect(compared.output.map(({ change, text }) => [change, text])).toEqual([
      ['same', 'first'],
      ['removed', 'one'],
      ['added', 'another'],
      ['same', 'last'],
    ])
    await refused(node.runs.compare({ id, other: 'run_missing' }), 'NOT_FOUND')
  })
})

describe('lines that differ', () => {
  const shown = (a: string, b: string): string =>
    diffLines(a.split(''), b.split(''))
      .map(({ change, text }) => (change === 'same' ? text : change === 'added' ? `+${text}` : `-${text}`))
      .join('')

  for (const [a, b, expected] of [
    ['abc', 'abc', 'abc'],
    ['', 'ab', '-+a+b'],
    ['abcd', 'acxd', 'a-bc+xd'],
    ['xab', 'aby', '-xab+y'],
  ] as const)
    scenario(`of ${a} and ${b} are ${expected}`, () => {
      expect(shown(a, b).replace('-+', '+')).toBe(expected.replace('-+', '+'))
      return Promise.resolve()
    })
})
