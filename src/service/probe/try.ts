import type { ProbeTryInput, ProbeTryView } from '../../features/probes/schema.ts'
import { invalid } from '../../api/refusals.ts'
import { runId, scheduleId, type OrgId, type ScheduleId } from '../../domain/ids.ts'
import { parseProbe } from '../../domain/probe/probe.ts'
import { sayProbe, subjectOf } from '../../core/probe/say-probe.ts'
import { loadProbeStanding } from '../../features/probes/store.ts'
import type { ScheduleRow } from '../../store/schedule-row.ts'
import { loadSchedules } from '../../store/schedules.ts'
import { acted, actorOf } from '../../features/audit/entry.ts'
import type { Caller } from '../caller.ts'
import type { Ports } from '../ports.ts'
import { isSeen } from '../rails/schedules.ts'
import { noSchedule } from '../schedule-editing.ts'
import type { Work } from '../turn-port.ts'
import { ask } from './ask.ts'
import { judge, readProbe } from './judge.ts'

/** Asks a probe once and says what it would decide. Nothing is counted, and nobody is woken. */
export async function tryProbe(ports: Ports, caller: Caller, input: ProbeTryInput): Promise<ProbeTryView> {
  const { orgId } = caller
  const row = await scheduleOf(ports, caller, input.schedule_id ?? null)
  const read = readProbe('probe', input.probe ?? row?.input['probe'], row?.input['probe'])
  const probe = read.ok ? parseProbe('probe', read.value) : read
  if (!probe.ok) throw invalid(probe.flaws)
  const own = input.probe === undefined || input.probe === null
  // What somebody who may has saved is tried by whoever may write schedules: it is asked by itself all the time.
  if (!own || probe.value.kind !== 'command') await judge(ports, caller, probe.value)
  const began = ports.clock.now()
  const verdict = await ask(ports, probe.value, {
    ...{ orgId, scheduleId: row?.id ?? null, session: row?.sessionKey ?? null, runId: null },
    before: row === null ? null : await markOf(ports, orgId, row.id),
    signal: AbortSignal.timeout((probe.value.timeoutSeconds + 5) * 1_000),
  })
  await ports.turns.take(triedWork(caller, { id: row?.id ?? 'new', answer: verdict.answer }))
  const { answer, sentence, seen } = verdict
  return {
    ...{ answer, wakes: answer === 'yes' || (answer === 'error' && probe.value.onError === 'run') },
    ...{ probe: sayProbe(probe.value), asked: subjectOf(probe.value), sentence, seen },
    duration_ms: Math.max(0, ports.clock.now() - began),
  }
}

async function scheduleOf(ports: Ports, { orgId, railed }: Caller, id: string | null): Promise<ScheduleRow | null> {
  if (id === null) return null
  const [row] = await loadSchedules(ports.database, { orgId, ids: [scheduleId(id)] })
  if (row === undefined || !isSeen(railed, row)) throw noSchedule(id)
  return row
}

/** What the next asking would compare with. */
async function markOf({ database }: Ports, orgId: OrgId, subject: ScheduleId): Promise<string | null> {
  const standing = await loadProbeStanding(database, { orgId, subject, runId: runId('') })
  return standing.wokenSucceeded ? standing.wokenMark : standing.seenMark
}

const triedWork = (caller: Caller, after: { readonly id: string; readonly answer: string }): Work<void> => ({
  orgId: caller.orgId,
  apply: (desk) => {
    desk.changes.audits.push(
      acted(actorOf(caller), { kind: 'schedule', id: after.id }, { verb: 'probe', after: { answer: after.answer } }),
    )
  },
})
