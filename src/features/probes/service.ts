import type { ProbeTryInput, ProbeTryView } from './schema.ts'
import { invalid } from '../../api/refusals.ts'
import { runId, scheduleId, type OrgId, type ScheduleId } from '../../domain/ids.ts'
import { parseProbe } from '../../domain/probe/probe.ts'
import { describeProbe, probeTargetText } from '../../domain/probe/verdict.ts'
import { loadProbeHistory } from './store.ts'
import { loadSchedules, type ScheduleRow } from '../schedules/store.ts'
import { acted, actorOf } from '../audit/entry.ts'
import type { Caller } from '../access/caller.ts'
import type { Ports } from '../../engine/ports.ts'
import { isScheduleVisible } from '../schedules/restrictions.ts'
import { scheduleNotFound } from '../schedules/editing.ts'
import type { Command } from '../../engine/commands-port.ts'
import { runProbe } from './ask.ts'
import { requireAllowedProbe, readProbe } from './decide.ts'

/** Runs a probe once and returns what it would decide. Counts nothing and wakes no agent. */
export async function tryProbe(ports: Ports, caller: Caller, input: ProbeTryInput): Promise<ProbeTryView> {
  const { orgId } = caller
  const schedule = await visibleSchedule(ports, caller, input.schedule_id ?? null)
  const read = readProbe('probe', input.probe ?? schedule?.input['probe'], schedule?.input['probe'])
  const probe = read.ok ? parseProbe('probe', read.value) : read
  if (!probe.ok) throw invalid(probe.flaws)
  const isStored = input.probe === undefined || input.probe === null
  // A stored command probe was authorized when it was saved, and any caller who can write schedules may try it.
  if (!isStored || probe.value.kind !== 'command') await requireAllowedProbe(ports, caller, probe.value)
  const startedAt = ports.clock.now()
  const verdict = await runProbe(ports, probe.value, {
    ...{ orgId, scheduleId: schedule?.id ?? null, session: schedule?.sessionKey ?? null, runId: null },
    before: schedule === null ? null : await loadLastFingerprint(ports, orgId, schedule.id),
    signal: AbortSignal.timeout((probe.value.timeoutSeconds + 5) * 1_000),
  })
  await ports.commands.execute(probeTriedCommand(caller, { id: schedule?.id ?? 'new', answer: verdict.answer }))
  const { answer, sentence, seen } = verdict
  return {
    ...{ answer, wakes: answer === 'yes' || (answer === 'error' && probe.value.onError === 'run') },
    ...{ probe: describeProbe(probe.value), asked: probeTargetText(probe.value), sentence, seen },
    duration_ms: Math.max(0, ports.clock.now() - startedAt),
  }
}

async function visibleSchedule(
  ports: Ports,
  { orgId, restricted }: Caller,
  id: string | null,
): Promise<ScheduleRow | null> {
  if (id === null) return null
  const [schedule] = await loadSchedules(ports.database, { orgId, ids: [scheduleId(id)] })
  if (schedule === undefined || !isScheduleVisible(restricted, schedule)) throw scheduleNotFound(id)
  return schedule
}

/** Loads the fingerprint that the next run of the probe compares with. */
async function loadLastFingerprint({ database }: Ports, orgId: OrgId, subject: ScheduleId): Promise<string | null> {
  const history = await loadProbeHistory(database, { orgId, subject, runId: runId('') })
  return history.wokenSucceeded ? history.wokenMark : history.seenMark
}

const probeTriedCommand = (caller: Caller, tried: { readonly id: string; readonly answer: string }): Command<void> => ({
  orgId: caller.orgId,
  apply: (state) => {
    state.changes.audits.push(
      acted(actorOf(caller), { kind: 'schedule', id: tried.id }, { verb: 'probe', after: { answer: tried.answer } }),
    )
  },
})
