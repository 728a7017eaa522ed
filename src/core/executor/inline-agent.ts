import { agentId, type AgentId, type ScheduleId } from '../../domain/ids.ts'
import { INLINE_EXECUTOR_KINDS } from '../../executors/kinds.ts'

/** The agent of a schedule that brings its executor with it: nobody made it, and no id that somebody chose looks so. */
export const inlineAgentId = (kind: string, scheduleId: ScheduleId): AgentId => agentId(`inline:${kind}:${scheduleId}`)

/** The executor of such an agent; null: it is an agent like any other. */
export function inlineKindOf(id: string): string | null {
  const [word, kind, schedule] = id.split(':')
  if (word !== 'inline' || schedule === undefined) return null
  return INLINE_EXECUTOR_KINDS.find((known) => known === kind) ?? null
}
