import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { agentId, laneName, runId, sessionKey } from '../../../src/core/ids.ts'
import { later } from '../../../src/core/instant.ts'
import { ACCEPTED } from '../../../src/core/usual-why.ts'
import { agentRemoval } from '../../../src/service/agents.ts'
import { agentOn, makeRun } from '../../../src/service/desk/runs.ts'
import { taskWork } from '../../../src/service/tasks.ts'
import { readTask } from '../../../src/service/task-input.ts'
import type { Work } from '../../../src/service/turn-port.ts'
import { ORG } from '../../store/records.ts'
import { openNode } from './node.ts'
import { createServiceWorld, type ServiceWorld } from './world.ts'

let world: ServiceWorld

beforeAll(async () => {
  world = await createServiceWorld()
})
beforeEach(() => world.startOver('pending', 'run', 'usage', 'turn', 'node'))
afterAll(() => world.drop())

/** Tasks in one piece of work, each with a parameter of so many bytes. */
function tasks(agents: readonly string[], bytes = 10): Work<unknown> {
  const read = agents.map((agent) => {
    const task = readTask(
      { agentId: agent, action: 'click', params: { text: 'x'.repeat(bytes) } },
      { at: '', now: world.now },
    )
    if (!task.ok) throw new Error('a task of this test is flawed')
    return task.value
  })
  return taskWork(world.ports, world.caller, read) as Work<unknown>
}

describe('a node that hears of a turn in an org with a daily limit', () => {
  it('counts the runs of the other node, and looks at none of its sessions', async () => {
    await world.db.query('update org set runs_per_day = 4 where id = $1', [ORG])
    const [node, other] = [await openNode(world), await openNode(world)]
    for (let index = 0; index < 50; index += 1) {
      const key = sessionKey(`s${index}`)
      const own = {}
      node.memory.desk.sessions.set(key, {
        ...{ orgId: ORG, key, own, cutoff: null, generation: 0, context: null, createdAt: world.now },
      })
    }
    const looks = vi.spyOn(node.memory.lineUp, 'setSession')
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
    const delayed: Work<unknown> = {
      orgId: ORG,
      needs: { agents: [reader] },
      apply: (desk) => {
        const id = runId('run_delayed')
        const { executorKey } = agentOn(desk, reader)
        makeRun(desk, {
          ...{ id, agentId: reader, executorKey, jobRunId: id, trigger: 'message', lane: laneName('main') },
          ...{ state: 'waiting', notBefore: later(desk.now, 1_000), decision: ACCEPTED, payload: {} },
        })
      },
    }
    await node.turn(delayed)
    await other.turn(agentRemoval(world.caller, { id: reader }) as Work<unknown>)
    await node.turn()
    expect(node.memory.desk.agents.has(reader)).toBe(true)
  })
})
