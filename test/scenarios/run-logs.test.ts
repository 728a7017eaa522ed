import { describe, expect } from 'vitest'
import type { RunLogEntry } from '../../src/features/runs/schema.ts'
import { chat, ended, eventually, inState, refused, send } from './support.ts'
import { scenario } from './world.ts'

/** The essence of entries: what people read. */
const shown = (entries: readonly RunLogEntry[]): readonly unknown[] =>
  entries.map(({ attempt, kind, text, level, data }) => [attempt, kind, level, text, data])

describe.concurrent('the log of a run', () => {
  scenario(
    'keeps words, log lines and steps of every attempt, readable while it runs and afterwards',
    async (world) => {
      let release = (): void => undefined
      const hold = new Promise<void>((resolve) => {
        release = resolve
      })
      const node = await world.start({
        agents: {
          talker: async ({ attempt }, { progress, log }) => {
            progress('Hel')
            progress('lo')
            if (attempt === 1) throw new Error('lost the thread')
            log('warn', 'Reading mail', { count: 3 })
            progress({ step: 2 })
            await hold
            return 'Hello'
          },
        },
      })
      await node.agents.update('talker', { retry_policy: { max_retries: 1, strategy: 'fixed', base_ms: 10 } })
      const { run_id: id } = await send(node, chat('s', 'talker'), 'hi')
      const expected = [
        [1, 'output', null, 'Hello', null],
        [2, 'output', null, 'Hello', null],
        [2, 'log', 'warn', 'Reading mail', { count: 3 }],
        [2, 'step', null, null, { step: 2 }],
      ]
      await eventually(async () => expect(shown((await node.runs.log(id)).items)).toEqual(expected))
      expect((await node.runs.get(id)).status).toBe('running')
      release()
      expect((await ended(node, id)).status).toBe('success')
      const { items, next_cursor: next } = await node.runs.log(id)
      expect([shown(items), next]).toEqual([expected, null])
      expect(new Set(items.map((entry) => entry.id)).size).toBe(4)
      expect(shown((await node.runs.log(id, { attempt: 1 })).items)).toEqual(expected.slice(0, 1))
    },
  )

  scenario('is complete once the run has ended, and pages through it name every entry once', async (world) => {
    const node = await world.start({
      agents: {
        lister: (_, { log }) => {
          for (let index = 0; index < 25; index += 1) log('info', `line ${index}`)
        },
      },
    })
    const { run_id: id } = await send(node, chat('s', 'lister'), 'hi')
    await ended(node, id)
    const seen: string[] = []
    let cursor: string | null = null
    do {
      const page: Awaited<ReturnType<typeof node.runs.log>> = await node.runs.log(id, {
        ...{ limit: 10, ...(cursor === null ? {} : { cursor }) },
      })
      expect(page.items.length).toBeLessThanOrEqual(10)
      seen.push(...page.items.map(({ text }) => text ?? ''))
      cursor = page.next_cursor
    } while (cursor !== null)
    expect(seen).toEqual(Array.from({ length: 25 }, (_, index) => `line ${index}`))
    await refused(node.runs.log(id, { cursor: 'nonsense' }), 'VALIDATION')
    await refused(node.runs.log('run_missing'), 'NOT_FOUND')
  })

  scenario('is limited to 1 MiB per attempt, and says where it ends', async (world) => {
    const node = await world.start({
      agents: {
        flood: (_, { log }) => {
          for (let index = 0; index < 60; index += 1) log('info', 'x'.repeat(32_768))
          return 'done'
        },
      },
    })
    const { run_id: id } = await send(node, chat('s', 'flood'), 'hi')
    expect(await ended(node, id)).toMatchObject({ status: 'success', output: 'done' })
    const stored = await world.database.outside(
      'select sum(bytes)::int as bytes, count(*)::int as chunks from escapement.run_log where run_id = $1',
      [id],
    )
    expect(stored[0]?.['bytes']).toBeLessThanOrEqual(1_048_576)
    expect(stored[0]?.['bytes']).toBeGreaterThan(900_000)
    const texts: (string | null)[] = []
    let cursor: string | null | undefined
    while (cursor !== null) {
      const page: Awaited<ReturnType<typeof node.runs.log>> = await node.runs.log(
        id,
        cursor === undefined ? {} : { cursor },
      )
      texts.push(...page.items.map(({ text }) => text))
      cursor = page.next_cursor
    }
    expect(texts.at(-1)).toContain('The rest of the log is not stored')
    expect(texts.filter((text) => text?.startsWith('x') === true).length).toBeGreaterThan(25)
  })

  scenario('is not written for runs that print nothing', async (world) => {
    const node = await world.start({ agents: { silent: () => 'quiet' } })
    const { run_id: id } = await send(node, chat('s', 'silent'), 'hi')
    await ended(node, id)
    expect((await node.runs.log(id)).items).toEqual([])
    expect(await world.database.outside('select 1 from escapement.run_log where run_id = $1', [id])).toEqual([])
    await inState(node, id, 'success')
  })

  scenario('masks nothing but what was exposed, and survives characters that a database refuses', async (world) => {
    const node = await world.start({
      agents: {
        odd: (_, { progress, log }) => {
          progress('a\u0000b \ud83d')
          log('debug', 'half \ud83d', { deep: [1n] })
        },
      },
    })
    const { run_id: id } = await send(node, chat('s', 'odd'), 'hi')
    await ended(node, id)
    const { items } = await node.runs.log(id)
    expect(items.map(({ kind, level }) => [kind, level])).toEqual([
      ['output', null],
      ['log', 'debug'],
    ])
    expect(items[0]?.text).toMatch(/^a.b /u)
  })
})
