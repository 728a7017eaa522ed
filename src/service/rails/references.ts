import type { Refusal } from '../../api/refusals.ts'
import { inlineKindOf } from '../../core/executor/inline-agent.ts'
import { breach } from '../../core/rails/breach.ts'
import { parseProbe, type ProbeKind } from '../../domain/probe/probe.ts'
import type { ScheduleRow } from '../../store/schedule-row.ts'
import type { AtWork } from './making.ts'
import { refuseOthersSession, requireOwn } from './own.ts'
import { railRefusal } from './refusals.ts'

/** A schedule as a restricted key wants it, and as it was; null: it is new. */
export interface WantedSchedule {
  readonly before: ScheduleRow | null
  readonly after: ScheduleRow
}

/**
 * Refuses what a schedule of a restricted key may not name. Every way to create or change a schedule ends here, so a field
 * that names something of others is decided here and nowhere else. What the schedule named before was decided then.
 */
export async function refuseReferences(at: AtWork, { before, after }: WantedSchedule): Promise<void> {
  const { railed: who } = at
  if (inlineKindOf(after.agentId) !== null && after.agentId !== before?.agentId)
    throw railRefusal(breach('executor', 'A key with guard rails wakes agents; it cannot bring an executor of its own'))
  if (after.sessionKey !== null && after.sessionKey !== before?.sessionKey) refuseOthersSession(who, after.sessionKey)
  const isNew = (field: string): boolean => {
    const given = (after.input[field] ?? null) as unknown
    return given !== null && JSON.stringify(given) !== JSON.stringify(before?.input[field] ?? null)
  }
  if (isNew('budget')) throw railRefusal(breach('operation', 'A key with guard rails sets no budgets'))
  // Targets are created by people alone, so none is its own.
  if (isNew('delivery')) throw noDelivery()
  if (isNew('probe')) await refuseProbe(at, after.input['probe'])
}

/** A probe asks with the rights of the server: it looks at own schedules and conversations alone, and sends nothing. */
async function refuseProbe({ tx, orgId, railed }: AtWork, given: unknown): Promise<void> {
  const read = parseProbe('probe', given)
  if (!read.ok) return
  refuseProbeKind(read.value.kind)
  if (read.value.kind !== 'state') return
  const { scheduleId, session } = read.value.of
  if (scheduleId !== null) await requireOwn({ database: tx }, { orgId, railed }, { kind: 'schedule', id: scheduleId })
  if (session !== null) refuseOthersSession(railed, session)
}

/** Refuses a probe that sends something, or starts a program, to a restricted key. */
export function refuseProbeKind(kind: ProbeKind): void {
  if (kind === 'state') return
  const message = `A key with guard rails cannot use a probe of kind ${kind}; use kind state`
  throw railRefusal(breach('executor', message, { probe: kind }))
}

/** Refuses a run of a schedule that a person has rejected, to every key with guard rails. */
export function refuseRejected({ id, state, approval }: ScheduleRow): void {
  const rejected = approval?.rejected ?? null
  if (rejected === null || state === 'active') return
  throw railRefusal(
    breach('approval', `Schedule ${id} was rejected: ${rejected.reason}; change it, and it is proposed again`),
  )
}

/** Refuses a delivery that a key with guard rails asks for. */
export const noDelivery = (): Refusal =>
  railRefusal(breach('operation', 'A key with guard rails delivers to no target; ask an owner to set delivery'))
