import { laneName, type MessageId, type SessionKey } from '../../src/domain/ids.ts'
import { later, type Instant } from '../../src/domain/instant.ts'
import { because } from '../../src/domain/reasons.ts'
import type { SessionRules } from '../../src/domain/session/session.ts'
import { cancelRun, stopSession } from '../../src/engine/commands/cancel.ts'
import { runNow } from '../../src/engine/commands/fire.ts'
import { submit as submitOn } from '../../src/engine/commands/submit.ts'
import { disabledPlanState, enabledPlanState } from '../../src/features/schedules/next-run.ts'
import { replaceSchedule } from '../../src/features/schedules/editing.ts'
import type { StateCommand } from '../../src/engine/transaction/in-memory.ts'
import { fireCommand } from '../../src/engine/commands/engine-commands.ts'
import type { RunRow } from '../../src/features/runs/store.ts'
import type { ScheduleRow } from '../../src/features/schedules/store.ts'
import { act } from './transactions.ts'
import { orgOf, type Agent, type Org, type World } from './world.ts'

export interface Submission {
  readonly org: Org
  readonly agent: Agent
  readonly sessionKey: SessionKey | null
  readonly trigger: 'message' | 'task'
  readonly sender: string | null
  readonly priority: number
  readonly notBefore: Instant | null
  readonly deadline: Instant | null
  readonly rules: Partial<SessionRules>
  /** How long ago it was sent: some channels stamp messages themselves and deliver them late. */
  readonly ageMs: number
}

/** A message or a task arrives. */
export function submit(world: World, { org, agent, ageMs, ...given }: Submission): void {
  const { sessionKey } = given
  const number = (world.counters.submission += 1)
  const stamp = later(world.now, -ageMs)
  if (world.nodes.every((node) => node.draining)) {
    world.observer.submitted(world, { number, stamp, accepted: false, run: null })
    return
  }
  const apply: StateCommand['apply'] = (desk) => {
    const answer = submitOn(desk, {
      ...given,
      agentId: agent.id,
      content: { text: '', attachments: [], messageIds: [String(number) as MessageId], fields: {} },
      sentAt: stamp,
      // A lane that nobody has made.
      lane: given.priority === 5 ? laneName('nope') : null,
      ...{ retryPolicy: null, parentRunId: null },
      // A verdict that nothing is done about has no answer.
    }) as ReturnType<typeof submitOn> | undefined
    const run = answer === undefined ? undefined : world.runs.get(answer.runId)
    world.observer.submitted(world, { number, stamp, accepted: true, run: run ?? null })
  }
  const needs = sessionKey === null ? {} : { sessions: [sessionKey] }
  act(world, org, [{ apply, needs }])
}

/** One pass of the schedule loop: everything due is decided. */
export function fireDue(world: World): void {
  for (const org of world.orgs) {
    const due = [...org.memory.state.schedules.values()].filter(
      ({ state, nextRunAt }) => state === 'active' && nextRunAt !== null && nextRunAt <= world.now,
    )
    if (due.length > 0)
      act(
        world,
        org,
        due.map((row) => fireOne(world, org, row)),
      )
  }
}

function fireOne({ runs, observer }: World, org: Org, row: ScheduleRow): StateCommand {
  const work = fireCommand(org.id, [row.id])
  return {
    apply: (desk, prepared) => {
      const { watermark: after } = row
      const { occurrences, ranges } = desk.changes
      const [decided, ranged] = [occurrences.length, ranges.length]
      work.apply(desk, prepared)
      const made = occurrences.slice(decided)
      observer.fired(row, {
        ...{ after, upTo: desk.now, nominals: made.map(({ key }) => key.nominal) },
        ranged: ranges.slice(ranged).reduce((sum, { count }) => sum + count, 0),
        made: made.flatMap(({ runId }) => runs.get(runId) ?? []),
      })
    },
  }
}

/** Somebody presses run-now. */
export function runScheduleNow(world: World, { id, orgId }: ScheduleRow): void {
  const { random } = world
  const deadline = random.chance(0.2) ? later(world.now, random.int(100, 20_000)) : null
  act(world, orgOf(world, orgId), [{ apply: (desk) => runNow(desk, id, { mode: 'force', overrides: { deadline } }) }])
}

/** Somebody cancels one run. */
export function cancel(world: World, { id, orgId }: RunRow): void {
  const apply: StateCommand['apply'] = (desk) => cancelRun(desk, id, because('cancelled', 'cancel'))
  act(world, orgOf(world, orgId), [{ apply, needs: { runs: [id] } }])
}

/** /stop, /stopall and reset. */
export function stop(
  world: World,
  { org, key }: { readonly org: Org; readonly key: SessionKey },
  how: 'stop' | 'stopall' | 'reset',
): void {
  const apply: StateCommand['apply'] = (desk) => {
    const session = desk.sessions.get(key)
    if (session !== undefined && how !== 'stop') world.observer.cleared(session)
    stopSession(desk, key, { how })
  }
  act(world, org, [{ apply }])
}

/** The rules of a session are changed. */
export function changeSession(
  world: World,
  { org, key }: { readonly org: Org; readonly key: SessionKey },
  own: SessionRules,
): void {
  const apply: StateCommand['apply'] = (desk) => {
    const session = desk.sessions.get(key)
    if (session === undefined) return
    session.own = own
    desk.changes.sessions.add(session)
  }
  act(world, org, [{ apply }])
}

/** A schedule is switched on or off, or its rules are changed. */
export function changeSchedule(
  world: World,
  { id, orgId }: ScheduleRow,
  change: 'enable' | 'disable' | Partial<ScheduleRow['rules']>,
): void {
  const apply: StateCommand['apply'] = (desk) => {
    const row = desk.schedules.get(id)
    if (row === undefined) return
    if (typeof change === 'object') replaceSchedule(desk, { ...row, rules: { ...row.rules, ...change } })
    else
      replaceSchedule(desk, {
        ...row,
        ...(change === 'enable' ? enabledPlanState(row, desk.now) : disabledPlanState(row)),
      })
  }
  act(world, orgOf(world, orgId), [{ apply }])
}
