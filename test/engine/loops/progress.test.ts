import { describe, expect, it } from 'vitest'
import { attemptId, orgId, runId } from '../../../src/domain/ids.ts'
import { instant } from '../../../src/domain/instant.ts'
import { createProgress, type Progress } from '../../../src/engine/progress.ts'
import type { OrgActor } from '../../../src/engine/org-actor.ts'
import type { RunLogRow } from '../../../src/features/runs/log-store.ts'

const ORG = orgId('acme')
const ABOUT = { orgId: ORG, runId: runId('run_1'), attemptId: attemptId('att_1') }

interface Stage {
  readonly progress: Progress
  readonly stored: RunLogRow[][]
  /** Lets the time of every timer pass. */
  readonly pass: () => Promise<void>
  readonly failures: unknown[]
  broken: boolean
}

/** Progress whose timers pass by hand, before a database that may refuse. */
function stage(): Stage {
  let timers: (() => void)[] = []
  const stored: RunLogRow[][] = []
  const failures: unknown[] = []
  const made: Stage = {
    ...{ stored, failures, broken: false },
    pass: async () => {
      const due = timers
      timers = []
      for (const timer of due) timer()
      await new Promise((resolve) => setImmediate(resolve))
    },
    progress: createProgress({
      officeOf: () => ({ execute: () => Promise.resolve() }) as unknown as OrgActor,
      sleep: () => new Promise((resolve) => timers.push(resolve)),
      stopping: new AbortController().signal,
      now: () => instant(1_000),
      nodeId: () => 'nod_abcd',
      store: (rows) => {
        if (made.broken) return Promise.reject(new Error('the database is away'))
        stored.push([...rows])
        return Promise.resolve()
      },
      failed: (error) => failures.push(error),
    }),
  }
  return made
}

const eventsOf = (rows: readonly RunLogRow[]): readonly unknown[] =>
  rows.flatMap(({ entries }) => (JSON.parse(entries) as readonly (readonly unknown[])[]).map(([, event]) => event))

describe('what attempts print', () => {
  it('is stored in one statement for all attempts, with consecutive words in one entry', async () => {
    const { progress, stored, pass } = stage()
    for (const word of ['a', 'b', 'c']) progress.add({ ...ABOUT, event: word })
    progress.add({ ...ABOUT, attemptId: attemptId('att_2'), event: { step: 1 } })
    await pass()
    expect(stored).toEqual([])
    await pass()
    expect(stored.map((rows) => rows.map((row) => [row.attemptId, eventsOf([row])]))).toEqual([
      [
        ['att_1', ['abc']],
        ['att_2', [{ step: 1 }]],
      ],
    ])
  })

  it('is stored before the report that follows, and costs nothing when there is nothing', async () => {
    const { progress, stored } = stage()
    expect(progress.settle(ABOUT)).toBeNull()
    progress.add({ ...ABOUT, event: 'last words' })
    await progress.settle(ABOUT)
    expect(eventsOf(stored.flat())).toEqual(['last words'])
    expect(progress.settle(ABOUT)).toBeNull()
  })

  it('is stored later when the database is away, in order and once', async () => {
    const made = stage()
    made.broken = true
    made.progress.add({ ...ABOUT, event: 'first' })
    await made.progress.settle(ABOUT)
    expect([made.stored.length, made.failures.length]).toEqual([0, 1])
    made.broken = false
    made.progress.add({ ...ABOUT, event: 'second' })
    await made.pass()
    await made.pass()
    await made.pass()
    expect(eventsOf(made.stored.flat())).toEqual(['first', 'second'])
  })

  it('has ids that increase, also within a millisecond', async () => {
    const { progress, stored } = stage()
    for (let index = 0; index < 5; index += 1) progress.add({ ...ABOUT, event: { index } })
    await progress.settle(ABOUT)
    const ids = stored.flat().flatMap(({ entries }) => (JSON.parse(entries) as [string][]).map(([id]) => id))
    expect(ids).toEqual([...new Set(ids)].toSorted())
    expect(ids).toHaveLength(5)
  })
})
