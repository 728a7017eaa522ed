import { describe, expect, it, vi } from 'vitest'
import { laneName, orgId, sessionKey } from '../../../src/domain/ids.ts'
import type { ContextUse } from '../../../src/domain/session/session.ts'
import { emptyMemory, type NodeFacts } from '../../../src/service/turn/memory.ts'
import { noteChanges } from '../../../src/service/turn/notes.ts'
import { sessionFor } from '../../../src/service/turn/turn.ts'
import { aRun } from './a-run.ts'
import { openCabinet } from '../commands/cabinet.ts'

type Estimate = (key: string) => ContextUse | null

/** How often the limits of a session are looked at in a turn that changes one of its runs. */
function looks(estimate: Estimate | null): number {
  const { desk: like } = openCabinet()
  const node: NodeFacts = {
    ...{ chance: like.chance, settings: () => like.settings, canExecute: () => true, estimate: () => estimate },
    laneNames: () => new Set([laneName('main')]),
  }
  const memory = emptyMemory(orgId('default'), node)
  const key = sessionKey('agent:a:chat:dm:1')
  sessionFor(memory, key)
  memory.desk.changes.newSessions.clear()
  memory.desk.changes.changed.add(aRun(memory, { sessionKey: key }))
  const setSession = vi.spyOn(memory.lineUp, 'setSession')
  noteChanges(memory, node)
  return setSession.mock.calls.length
}

describe('the sessions of changed runs', () => {
  it('are looked at again only while a program estimates how full they are', () => {
    expect(looks(null)).toBe(0)
    expect(looks(() => ({ tokens: 1, contextWindow: 2 }))).toBe(1)
  })
})
