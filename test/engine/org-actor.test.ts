import { describe, expect, it } from 'vitest'
import { laneName, orgId, runId, attemptId } from '../../src/domain/ids.ts'
import { later } from '../../src/domain/instant.ts'
import { createOrgActor, type OrgActor, type OrgActorContext } from '../../src/engine/org-actor.ts'
import { DEFAULT_SETTINGS } from '../../src/features/config/settings.ts'
import type { Command } from '../../src/engine/commands-port.ts'
import { emptyLoadedOrg, type NodeCapabilities } from '../../src/engine/org-state/memory.ts'
import type { TransactionLimits } from '../../src/engine/transaction/limits.ts'
import type { Database, Transaction } from '../../src/platform/db/database.ts'
import { DatabaseError } from '../../src/platform/db/database-error.ts'
import { NOW } from '../support/builders.ts'

const ORG = orgId('default')

const facts: NodeCapabilities = {
  randomSource: { random: () => 0.5, newRunId: () => runId('run_1'), newAttemptId: () => attemptId('att_1') },
  settings: () => DEFAULT_SETTINGS,
  canExecute: () => true,
  laneNames: () => new Set([laneName('main')]),
  estimate: null,
}

interface Stand {
  readonly office: OrgActor
  readonly loads: () => number
  readonly said: string[]
  /** What the next transactions end with, in order; the ones after them are kept. */
  readonly failures: Error[]
}

/** An office at a database that answers what it must and keeps nothing. */
function open(more: Partial<OrgActorContext> = {}, limits?: TransactionLimits): Stand {
  const failures: Error[] = []
  const said: string[] = []
  let loads = 0
  let no = 0
  const tx: Transaction = {
    inTransaction: true,
    query: (text) =>
      Promise.resolve(
        text.includes('org_version')
          ? [{ now: NOW, no, at: NOW, node_id: 'nod_1', lease_until: later(NOW, 60_000) }]
          : [],
      ),
    send: (text) => {
      if (text.includes('into turn')) no += 1
    },
  }
  const database: Database = {
    query: tx.query,
    transaction: async (work) => {
      const failure = failures.shift()
      if (failure !== undefined) throw failure
      return work(tx)
    },
    listen: () => Promise.reject(new Error('nobody listens')),
    close: () => Promise.resolve(),
  }
  const office = createOrgActor(
    {
      transactionContext: () => ({
        database,
        node: facts,
        nodeId: 'nod_1',
        channels: null,
        syncClock: (at) => at,
        ...(limits ? { limits } : {}),
      }),
      load: () => {
        loads += 1
        const memory = emptyLoadedOrg(ORG, facts)
        memory.version = no
        memory.newest = { at: NOW, writer: 'nod_1' }
        return Promise.resolve(memory)
      },
      catchUpWithoutLock: () => Promise.resolve(null),
      ...{
        offer: () => null,
        decided: () => undefined,
        withdraw: () => undefined,
        committed: () => () => undefined,
        isAlone: () => true,
      },
      ...{ failed: () => undefined, recovered: () => undefined, listenerFailed: () => undefined },
      stuck: (_org, _error, times) => said.push(`stuck after ${times}`),
      ...{ callAt: () => () => undefined, sleep: () => Promise.resolve(), backoffMs: () => 0 },
      ...{ counter: () => 0, patienceMs: 30_000, after: () => () => undefined },
      ...more,
    },
    ORG,
  )
  return { office, loads: () => loads, said, failures }
}

const work = (apply: () => string = () => 'done'): Command<string> => ({
  orgId: ORG,
  apply: (desk) => {
    desk.changes.events.push({ kind: 'lane.changed', subject: 'main', data: {} })
    return apply()
  },
})

describe('a turn that could not begin', () => {
  it.each(['timed_out', 'no_free_connection', 'database_unreachable'] as const)(
    'leaves what is remembered as it is: %s',
    async (code) => {
      const { office, loads, failures } = open()
      await office.execute(work())
      failures.push(new DatabaseError(code), new DatabaseError(code))
      expect(await office.execute(work())).toBe('done')
      expect(loads()).toBe(1)
    },
  )

  it('is said to be stuck the third time, and then each time that doubles', async () => {
    const { office, failures, said } = open()
    failures.push(...Array.from({ length: 13 }, () => new DatabaseError('timed_out')))
    await office.execute(work())
    expect(said).toEqual(['stuck after 3', 'stuck after 6', 'stuck after 12'])
  })
})

describe('a turn that is kept', () => {
  it('is not taken a second time because a listener fails', async () => {
    let applied = 0
    const mishaps: unknown[] = []
    const { office, loads } = open({
      committed: () => {
        throw new Error('a listener is broken')
      },
      listenerFailed: (error) => mishaps.push(error),
    })
    const answer = await office.execute(
      work(() => {
        applied += 1
        return 'done'
      }),
    )
    expect([answer, applied, loads(), mishaps.length]).toEqual(['done', 1, 1, 1])
  })

  it('leaves what it had no time for to the next one, in order', async () => {
    const order: number[] = []
    const spent: TransactionLimits = { maxChanges: 10, stopwatch: () => () => true }
    let turns = 0
    const { office } = open({ committed: () => ((turns += 1), () => undefined) }, spent)
    const answers = await Promise.all(
      [0, 1, 2].map((index) =>
        office.execute(
          work(() => {
            order.push(index)
            return String(index)
          }),
        ),
      ),
    )
    expect([answers, order, turns]).toEqual([['0', '1', '2'], [0, 1, 2], 3])
  })
})
