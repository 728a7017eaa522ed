import { describe, expect, it } from 'vitest'
import { createServerLog } from '../../../src/platform/log/server-log.ts'
import { createTransactionLog, type TransactionLog } from '../../../src/platform/log/transaction-log.ts'

interface World {
  readonly turns: TransactionLog
  readonly lines: () => readonly Readonly<Record<string, unknown>>[]
}

function world(level: 'info' | 'warn' = 'info'): World {
  let text = ''
  const log = createServerLog({ level, pretty: false, to: (more) => (text += more) })
  return {
    turns: createTransactionLog(log, () => 'nod_1'),
    lines: () =>
      text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => {
          const { time: _time, level: _level, ...rest } = JSON.parse(line) as Record<string, unknown>
          return rest
        }),
  }
}

type Event = readonly [string, string, Readonly<Record<string, unknown>>]
const changed = (status: string, more: Readonly<Record<string, unknown>> = {}, id = 'run_1'): Event => [
  'run.changed',
  id,
  { status, reason: 'accepted', attempt: 1, session: null, ...more },
]

describe('what turns have done', () => {
  it.each([
    ['queued', 'Run queued'],
    ['waiting', 'Run accepted, waiting'],
    ['running', 'Run dispatched'],
    ['assigned', 'Run dispatched'],
    ['awaiting_callback', 'Run waiting for its callback'],
    ['stopping', 'Run stopping'],
    ['success', 'Run completed'],
    ['failed', 'Run failed'],
    ['timeout', 'Run failed'],
    ['expired', 'Run failed'],
    ['cancelled', 'Run cancelled'],
    ['rejected', 'Run rejected'],
    ['dropped', 'Run dropped'],
    ['skipped', 'Run skipped'],
  ])('is in the log with ids: %s', (status, msg) => {
    const { turns, lines } = world()
    turns.hear('acme', { nodeId: 'nod_1', events: [changed(status, { session: 'a "quoted" key' })] })
    turns.flush()
    expect(lines()).toEqual([
      { msg, org: 'acme', run: 'run_1', status, reason: 'accepted', attempt: 1, session: 'a "quoted" key' },
    ])
  })

  it('calls tasks tasks, and a retry a retry', () => {
    const { turns, lines } = world()
    const events = [changed('rejected', {}, 'tsk_1'), changed('waiting', { reason: 'retry_scheduled', attempt: 2 })]
    turns.hear('acme', { nodeId: 'nod_1', events })
    turns.flush()
    expect(lines()).toMatchObject([
      { msg: 'Task rejected', task: 'tsk_1' },
      { msg: 'Run will be retried', run: 'run_1', attempt: 2 },
    ])
  })

  it('tells of the model too, and of nothing that is said on the way', () => {
    const { turns, lines } = world()
    const events: readonly Event[] = [
      ['schedule.changed', 'sch_1', { change: 'created', state: 'active' }],
      ['lane.changed', 'main', { concurrency: 5 }],
      ['run.output', 'run_1', { output: 'a secret' }],
      ['run.touched', 'run_1', {}],
      ['session.changed', 'key', {}],
    ]
    turns.hear('acme', { nodeId: 'nod_1', events })
    turns.flush()
    expect(lines()).toEqual([
      { msg: 'Schedule changed', org: 'acme', id: 'sch_1', change: 'created', state: 'active' },
      { msg: 'Lane changed', org: 'acme', id: 'main', concurrency: 5 },
    ])
  })

  it('is written by the node that has done it, and by nobody when nobody reads', () => {
    const { turns, lines } = world()
    turns.hear('acme', { nodeId: 'nod_2', events: [changed('queued')] })
    turns.flush()
    expect(lines()).toEqual([])
    const quiet = world('warn')
    const events = new Proxy([] as readonly Event[], {
      get: () => {
        throw new Error('it was looked at')
      },
    })
    quiet.turns.hear('acme', { nodeId: 'nod_1', events })
    quiet.turns.flush()
    expect(quiet.lines()).toEqual([])
  })

  it('is written soon by itself, in one go', async () => {
    const { turns, lines } = world()
    for (let n = 0; n < 3; n += 1) turns.hear('acme', { nodeId: 'nod_1', events: [changed('queued')] })
    expect(lines()).toEqual([])
    await new Promise(setImmediate)
    expect(lines()).toHaveLength(3)
  })

  it('is counted when there is more than can be remembered', () => {
    const { turns, lines } = world()
    const many = Array.from({ length: 150_000 }, () => changed('queued'))
    turns.hear('acme', { nodeId: 'nod_1', events: many })
    turns.hear('acme', { nodeId: 'nod_1', events: many })
    turns.flush()
    expect(lines().at(-1)).toEqual({ msg: 'Too many events to log all of them', lost: 150_000 })
  })
})
