import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { instant } from '../../src/domain/instant.ts'
import { run, type Ran } from '../cli/run.ts'
import { createServeWorld, type ServeWorld } from '../serve/support.ts'

// `escapement tasks …` against a server that works: what people see, what programs get, how it ends.

let world: ServeWorld

beforeAll(async () => {
  world = await createServeWorld()
  const slow = async (_: unknown, { signal }: { readonly signal: AbortSignal }): Promise<string> => {
    await sleep(60_000, undefined, { signal })
    return 'never'
  }
  const failing = (): string => {
    throw new Error('it is broken')
  }
  await world.serve({ agents: { slow, failing, quick: () => ({ ok: true }) } }).url
}, 60_000)

afterAll(() => world.end())

const type = (...args: readonly string[]): Promise<Ran> =>
  run(['tasks', ...args], '', {
    ...{ cwd: world.data, now: () => instant(Date.now()) },
    variables: { USER: 'ann', ESCAPEMENT_DATA: world.data },
  })

/** The same, which has to go well, for a program. */
async function ask(...args: readonly string[]): Promise<Readonly<Record<string, unknown>>> {
  const { code, stdout, stderr } = await type(...args, '--json')
  expect([code, stderr]).toEqual([0, ''])
  return JSON.parse(stdout) as Readonly<Record<string, unknown>>
}

const write = (name: string, value: unknown): string => {
  const file = path.join(world.data, name)
  writeFileSync(file, JSON.stringify(value))
  return file
}

describe('escapement tasks', () => {
  it('submit, get and cancel: the life of a task', async () => {
    const params = '{"x": 1}'
    const made = await ask(
      ...['submit', '--agent', 'slow', '--action', 'click', '--tab', 'tab-1', '--selector', '#go', '--ref', 'e1'],
      ...['--params', params, '--priority', '5', '--deadline', '10m'],
    )
    const id = String(made['taskId'])
    const task = await ask('get', id)
    expect(task).toMatchObject({ agentId: 'slow', action: 'click', tabId: 'tab-1', params: { x: 1 }, priority: 5 })
    const deadline = Date.parse(String(task['deadline'])) - Date.parse(String(task['createdAt']))
    expect(Math.abs(deadline - 600_000)).toBeLessThan(60_000)
    expect((await type('get', id)).stdout).toMatch(/^state +running$/m)
    expect(await type('cancel', id)).toMatchObject({ code: 0, stdout: `${id} is cancelled.\n` })
    expect(await type('cancel', id)).toMatchObject({ code: 1, stderr: expect.stringContaining(id) as string })
    expect(await type('get', 'tsk_nobody')).toMatchObject({ code: 1, stdout: '' })
  })

  it('submit --wait follows it, and the exit code says how it ended', async () => {
    const done = await type('submit', '--agent', 'quick', '--action', 'look', '--wait')
    expect([done.code, done.stdout]).toEqual([0, expect.stringContaining('success')])
    const failed = await type('submit', '--agent', 'failing', '--action', 'look', '--wait')
    expect([failed.code, failed.stdout]).toEqual([1, expect.stringContaining('it is broken')])
  })

  it('get --wait shows the task when it has ended', async () => {
    const { taskId } = await ask('submit', '--agent', 'quick', '--action', 'look')
    expect(await ask('get', String(taskId), '--wait', '10s')).toMatchObject({ taskId, state: 'done' })
    expect(await type('get', String(taskId), '--wait', '10m')).toMatchObject({ code: 2 })
    expect((await ask('get', String(taskId), '--wait', '0s'))['state']).toBe('done')
  })

  it('submit says what is wrong in the words of its options', async () => {
    const { code, stderr } = await type('submit', '--agent', 'quick', '--deadline', '2020-01-01T00:00:00Z')
    expect(code).toBe(1)
    expect(stderr).toMatch(/--action is missing/)
    expect(await type('submit', '--agent', 'quick', '--action', 'x', '--params', '{')).toMatchObject({ code: 2 })
    const callback = await type('submit', '--agent', 'quick', '--action', 'x', '--callback', 'http://127.0.0.1:1/')
    expect([callback.code, callback.stderr]).toEqual([1, expect.stringContaining('--callback')])
  })

  it('batch takes a file; what was rejected makes the exit code 1', async () => {
    const tasks = [{ action: 'one' }, { action: 'two' }]
    const good = await type('batch', '--file', write('good.json', { agentId: 'quick', tasks }))
    expect(good.code).toBe(0)
    expect(good.stdout.match(/tsk_\w+/g)).toHaveLength(2)
    const part = await type('batch', '--agent', 'quick', '--file', write('part.json', { tasks: [...tasks, {}] }))
    expect([part.code, part.stdout]).toEqual([1, expect.stringMatching(/rejected .*action/)])
    expect(await type('batch', '--agent', 'quick')).toMatchObject({ code: 2 })
  })

  it('submit-many takes a file with tasks of any agents', async () => {
    const tasks = [
      { agentId: 'quick', action: 'one' },
      { agentId: 'failing', action: 'two' },
    ]
    const good = await type('submit-many', '--file', write('many.json', { tasks }))
    expect([good.code, good.stdout.match(/tsk_\w+/g)?.length]).toEqual([0, 2])
    const part = await type('submit-many', '--file', write('part.json', { tasks: [...tasks, { action: 'x' }] }))
    expect([part.code, part.stdout]).toEqual([1, expect.stringMatching(/rejected .*agentId/)])
    expect(await type('submit-many')).toMatchObject({ code: 2, stderr: expect.stringContaining('--file') as string })
  })

  it('list filters and goes on; stats says how it went', async () => {
    for (const action of ['l1', 'l2', 'l3']) await ask('submit', '--agent', 'listed', '--action', action)
    const page = await ask('list', '--agent', 'listed', '--limit', '2')
    expect(page['items']).toHaveLength(2)
    const rest = await ask('list', '--agent', 'listed', '--cursor', String(page['next_cursor']))
    expect([(rest['items'] as unknown[]).length, rest['next_cursor']]).toEqual([1, null])
    expect((await ask('list', '--agent', 'listed', '--all'))['items']).toHaveLength(3)
    await expect
      .poll(async () => (await type('list', '--agent', 'listed', '--state', 'failed')).stdout)
      .toContain('tabId is required for execution')
    expect(await ask('list', '--state', 'odd')).toMatchObject({ items: [] })
    const stats = await ask('stats')
    expect(stats).toMatchObject({ config: { strategy: 'fair-fifo', resultTTL: '5m0s' } })
    const { stdout } = await type('stats')
    expect(stdout).toMatch(/^submitted +\d+, 0 rejected$/m)
    expect(stdout).toMatch(/^ended +\d+ done, [1-9]\d* failed, 1 cancelled, 0 expired$/m)
  })
})
