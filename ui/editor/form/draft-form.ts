import type { ScheduleDraft } from '../../../src/features/schedules/views-schema.ts'
import { payloadOf } from './form-of.ts'
import { EMPTY, type ScheduleForm } from './form.ts'
import { formOfWords } from './words-form.ts'

const WHEN = ['cron', 'every_seconds', 'rrule', 'at'] as const

/** The form of a schedule that does what a run did; when is left to say, unless the conversation has said it. */
export function formOfDraft(draft: ScheduleDraft): ScheduleForm {
  const { name, agent_id: agentId, payload, timezone, session, delivery, timeout_seconds: timeout } = draft
  const form: ScheduleForm = {
    ...EMPTY,
    ...{ name, agent_id: agentId ?? null, timezone, ...payloadOf(payload) },
    ...(session === undefined ? {} : { session_as: 'named', session }),
    target_id: delivery?.target_id ?? null,
    timeout_seconds: timeout ?? '',
  }
  const isTimed = WHEN.some((field) => draft[field] !== undefined)
  return isTimed ? { ...form, ...formOfWords({ fields: draft, rest: null }, form) } : form
}

/** Whether a requirement is among what is asked of the answer. */
export const isRequired = (output: string, text: string): boolean => output.includes(text)

/** The output format with or without a requirement; the text around it stays. */
export function withRequirement(output: string, text: string, isWanted: boolean): string {
  if (isWanted === isRequired(output, text)) return output
  const changed = isWanted ? `${output.trim()} ${text}` : output.replace(text, () => '')
  return changed.replace(/[ \t]{2,}/g, ' ').trim()
}
