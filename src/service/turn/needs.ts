import type { AgentId, RunId, ScheduleId, SessionKey } from '../../domain/ids.ts'
import type { Transaction } from '../../store/database.ts'
import { loadPayloads } from '../../store/run-reads.ts'
import { noteStated } from '../desk/quotas.ts'
import type { Work } from '../turn-port.ts'
import { recallHabitsFor } from './budgets.ts'
import type { Claim } from './claim.ts'
import type { Memory, NodeFacts } from './memory.ts'
import { type ReadAhead, recallAgents, recallSchedules, recallSessions } from './recall.ts'

interface Needs {
  readonly sessions: Set<SessionKey>
  readonly schedules: Set<ScheduleId>
  readonly agents: Set<AgentId>
}

/** What works look at and is not on the desk. */
export function absentNeeds({ desk }: Memory, works: readonly Work<unknown>[], ahead?: ReadAhead): Needs {
  const absent: Needs = { sessions: new Set(), schedules: new Set(), agents: new Set() }
  for (const { needs, prepare } of works) {
    if (needs === undefined) continue
    // Whoever has written by itself has made what is on the desk old.
    const again = prepare !== undefined
    for (const key of needs.sessions ?? [])
      if (again || !(desk.sessions.has(key) || ahead?.sessions.has(key))) absent.sessions.add(key)
    for (const id of needs.schedules ?? []) if (again || !desk.schedules.has(id)) absent.schedules.add(id)
    for (const id of needs.agents ?? [])
      if (again || !(desk.agents.has(id) || ahead?.agents.has(id))) absent.agents.add(id)
  }
  return absent
}

/** Works that are about to be done, and what was read for them ahead. */
export interface Needing {
  readonly memory: Memory
  readonly works: readonly Work<unknown>[]
  readonly ahead: ReadAhead
}

/** Puts on the desk what the works said they look at. */
export async function fetchNeeds(tx: Transaction, node: NodeFacts, { memory, works, ahead }: Needing): Promise<void> {
  const { desk } = memory
  const { sessions, schedules, agents } = absentNeeds(memory, works, ahead)
  await recallSchedules(tx, memory, [...schedules])
  for (const id of schedules) {
    const row = desk.schedules.get(id)
    if (row === undefined) continue
    if (!desk.agents.has(row.agentId)) agents.add(row.agentId)
    if (row.sessionKey !== null && !desk.sessions.has(row.sessionKey)) sessions.add(row.sessionKey)
  }
  await recallSessions(tx, memory, { node, keys: [...sessions] })
  await recallAgents(tx, memory, [...agents])
  if (desk.budgets !== null) await recallHabitsFor(tx, memory, works)
}

type Taken = Pick<Claim, 'run' | 'payload'>
type Payloads = ReadonlyMap<RunId, unknown>
const NO_PAYLOADS: Promise<Payloads> = Promise.resolve(new Map())

/** Asks for the payloads that are not in memory; the rest of the turn is sent before they have arrived. */
export function readPayloads(tx: Transaction, { desk }: Memory, taken: readonly Taken[]): Promise<Payloads> {
  const ids = taken.filter(({ payload }) => payload === undefined).map(({ run }) => run.id)
  if (ids.length === 0) return NO_PAYLOADS
  const read = async (): Promise<Payloads> => {
    const payloads = await loadPayloads(tx, { orgId: desk.orgId, ids })
    if (desk.quotas !== null)
      for (const { run } of taken)
        if (payloads.has(run.id)) noteStated(desk, desk.quotas, { run, payload: payloads.get(run.id) })
    return payloads
  }
  const reading = read()
  // A statement that fails first ends the turn before this answer is waited for.
  reading.catch(() => undefined)
  return reading
}

/** The same with what they were given to do. */
export const withPayloads = <Item extends Taken>(taken: readonly Item[], payloads: Payloads): readonly Item[] =>
  payloads.size === 0
    ? taken
    : taken.map((item) => (item.payload === undefined ? { ...item, payload: payloads.get(item.run.id) } : item))
