import { describe, expect, it, vi } from 'vitest'
import { laneName, orgId, sessionKey } from '../../../src/domain/ids.ts'
import type { ContextUse } from '../../../src/domain/session/session.ts'
import { emptyLoadedOrg, type NodeCapabilities } from '../../../src/engine/org-state/memory.ts'
import { applyChanges } from '../../../src/engine/org-state/changes.ts'
import { ensureSession } from '../../../src/engine/transaction/transaction.ts'
import { aRun } from './a-run.ts'
import { openCabinet } from '../commands/cabinet.ts'

type Estimate = (key: string) => ContextUse | null

/** How often the limits of a session are looked at in a turn that changes one of its runs. */
function looks(estimate: Estimate | null): number {
  const { desk: like } = openCabinet()
  const node: NodeCapabilities = {
    ...{
      randomSource: like.randomSource,
      settings: () => like.settings,
      canExecute: () => true,
      estimate: () => estimate,
    },
    laneNames: () => new Set([laneName('main')]),
  }
  const memory = emptyLoadedOrg(orgId('default'), node)
  const key = sessionKey('agent:a:chat:dm:1')
  ensureSession(memory, key)
  memory.state.changes.newSessions.clear()
  memory.state.changes.changed.add(aRun(memory, { sessionKey: key }))
  const setSession = vi.spyOn(memory.readyQueue, 'setSession')
  applyChanges(memory, node)
  return setSession.mock.calls.length
}

describe('the sessions of changed runs', () => {
  it('are looked at again only while a program estimates how full they are', () => {
    expect(looks(null)).toBe(0)
    expect(looks(() => ({ tokens: 1, contextWindow: 2 }))).toBe(1)
  })
})
