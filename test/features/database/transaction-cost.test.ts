import { ACCEPTED } from '../../../src/domain/run/run.ts'
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { agentId, laneName, runId, sessionKey } from '../../../src/domain/ids.ts'
import { later } from '../../../src/domain/instant.ts'
import { deleteAgentCommand } from '../../../src/features/agents/service.ts'
import { agentInState, createRun } from '../../../src/engine/commands/runs.ts'
import { submitTasksCommand } from '../../../src/features/tasks/service.ts'
import type { Command } from '../../../src/engine/commands-port.ts'
import type { Database, Transaction } from '../../../src/platform/db/database.ts'
import { loadPending } from '../../../src/engine/org-state/pending-store.ts'
import { ORG } from '../../platform/db/records.ts'
import { openNode } from './node.ts'
import { createServiceWorld, type ServiceWorld } from './world.ts'

let world: ServiceWorld

beforeAll(async () => {
  world = await createServiceWorld()
})
beforeEach(() => world.startOver('pending', 'run', 'usage', 'turn', 'node'))
afterAll(() => world.drop())

/** Tasks in one piece of work, each with a parameter of so many bytes that do not compress. */
function tasks(agents: readonly string[], bytes = 10): Command<unknown> {
  const given = agents.map((agentId) => ({
    ...{ agentId, action: 'click', params: { text: randomBytes(bytes / 2).toString('hex') } },
  }))
  return submitTasksCommand(world.ports, world.caller, given) as Command<unknown>
}

/** What a node asks its database, in order: a statement when it is sent, and again with `answered` when its rows are here. */
function logged(db: Database, log: string[]): Database {
  const watch = (tx: Transaction): Transaction => ({
    ...tx,
    query: async (text, params) => {
      const name = text.trimStart().slice(0, 22)
      log.push(name)
      const rows = await tx.query(text, params)
      log.push(`${name} answered`)
      return rows
    },
    send: (text, params) => {
      log.push(text.trimStart().slice(0, 22))
      tx.send(text, params)
    },
  })
  return { ...db, transaction: (work, options) => db.transaction((tx) => work(watch(tx)), options) }
}

const READ = 'select id, payload from run'.slice(0, 22)
const TWO_KB = 2_048

describe('a task of two kilobytes', () => {
  const TWELVE = Array.from({ length: 12 }, (_, index) => `agent${index}`)

  it('is not read again by the node that took it when it starts in the next turn', async () => {
    const log: string[] = []
    const node = await openNode({ ...world, db: logged(world.db, log) })
    await node.turn(tasks(TWELVE, TWO_KB))
    await node.turn(...node.reports(1))
    expect(node.started).toHaveLength(12)
    expect(log).not.toContain(READ)
  })

  it('is read while the turn is written by a node that has just loaded the org', async () => {
    await (await openNode(world)).turn(tasks(TWELVE, TWO_KB))
    const log: string[] = []
    const node = await openNode({ ...world, db: logged(world.db, log) })
    await node.turn()
    expect(node.held.map(({ payload }) => (payload as { params: { text: string } }).params.text.length)).toEqual(
      Array.from({ length: 3 }, () => TWO_KB),
    )
    const [read, arrived] = [log.indexOf(READ), log.indexOf(`${READ} answered`)]
    expect(read).toBeGreaterThan(-1)
    expect(log.slice(read + 1, arrived).some((text) => /^(?:with|insert|update)/.test(text))).toBe(true)
  })
})

describe('a node that hears of a turn in an org with a daily limit', () => {
  it('counts the runs of the other node, and looks at none of its sessions', async () => {
    await world.db.query('update org set runs_per_day = 4 where id = $1', [ORG])
    const [node, other] = [await openNode(world), await openNode(world)]
    for (let index = 0; index < 50; index += 1) {
      const key = sessionKey(`s${index}`)
      const own = {}
      node.memory.state.sessions.set(key, {
        ...{
          orgId: ORG,
          key,
          own,
          cutoff: null,
          generation: 0,
          context: null,
          behind: 0,
          behindFrom: 0,
          createdAt: world.now,
        },
      })
    }
    const looks = vi.spyOn(node.memory.readyQueue, 'setSession')
    await other.turn(tasks(['a', 'b', 'c']))
    const [answers] = await node.turn(tasks(['d', 'e']))
    expect(answers).toMatchObject([{ answer: { kind: 'accepted' } }, { answer: { kind: 'rejected' } }])
    expect(looks).not.toHaveBeenCalled()
    await world.db.query('update org set runs_per_day = null', [])
  })
})

describe('a node that hears that an agent was deleted', () => {
  it('keeps what it knows of it while a run of the agent waits', async () => {
    const [node, other] = [await openNode(world), await openNode(world)]
    const reader = agentId('reader')
    const delayed: Command<unknown> = {
      orgId: ORG,
      needs: { agents: [reader] },
      apply: (desk) => {
        const id = runId('run_delayed')
        const { executorKey } = agentInState(desk, reader)
        createRun(desk, {
          ...{ id, agentId: reader, executorKey, jobRunId: id, trigger: 'message', lane: laneName('main') },
          ...{ state: 'waiting', notBefore: later(desk.now, 1_000), decision: ACCEPTED, payload: {} },
        })
      },
    }
    await node.turn(delayed)
    await other.turn(deleteAgentCommand(world.caller, { id: reader }) as Command<unknown>)
    await node.turn()
    expect(node.memory.state.agents.has(reader)).toBe(true)
  })
})

describe('small payloads of an org that is loaded', () => {
  it('are left on record when they are not asked for', async () => {
    const node = await openNode(world)
    await node.turn(tasks(['a', 'b']))
    const page = { orgId: ORG, after: '', limit: 10 }
    const given = async (payloads: boolean): Promise<readonly boolean[]> =>
      (await loadPending(world.db, { ...page, payloads })).map(({ payload }) => payload !== undefined)
    expect(await given(true)).toEqual([true, true])
    expect(await given(false)).toEqual([false, false])
  })
})
