import type { ScheduleForm } from './form.ts'
import { inputOf, same } from './input-of.ts'

/** A field that another user has changed. */
export interface Difference {
  /** As the server calls it. */
  readonly field: string
  readonly before: unknown
  readonly after: unknown
  /** The local edits change it too, so that saving overwrites the other value. */
  readonly isMine: boolean
}

interface Versions {
  readonly before: ScheduleForm
  readonly theirs: ScheduleForm
  readonly mine: ScheduleForm
}

/** What another user has changed, field by field, and whether the local edits change the same field. */
export function differences({ before, theirs, mine }: Versions): readonly Difference[] {
  const [was, is, wanted] = [wholeOf(before), wholeOf(theirs), wholeOf(mine)]
  const fields = [...new Set([...Object.keys(was), ...Object.keys(is)])].filter((field) => !same(was[field], is[field]))
  return fields.map((field) => ({
    ...{ field, before: was[field], after: is[field] },
    isMine: !same(was[field], wanted[field]) && !same(is[field], wanted[field]),
  }))
}

/** Everything a form says; a payload that is no JSON yet counts as text. */
function wholeOf(form: ScheduleForm): Readonly<Record<string, unknown>> {
  const { enabled } = form
  try {
    return { enabled, ...inputOf(form) }
  } catch {
    return { enabled, ...inputOf({ ...form, payload_as: 'text', prompt: form.json, output: '' }) }
  }
}
