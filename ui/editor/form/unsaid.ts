import type { ScheduleForm } from './form.ts'
import { timingInput } from './input-of.ts'

type Flaws = Readonly<Record<string, string>>

/** Where each kind of schedule says when. */
const FIELDS = { at: 'at', every: 'every_seconds', cron: 'cron', rrule: 'rrule' } as const

/**
 * The visible field that was left empty when the server misses a time; else null. The server has four fields
 * for it and complains about the one it names first, which need not be the one that is shown.
 */
export function unsaidField(form: ScheduleForm, refused: Flaws): string | null {
  const field = FIELDS[form.kind]
  return refused['cron'] !== undefined && timingInput(form)[field] == null ? field : null
}

/** What was refused without what is said of a cron expression where none is shown. */
export function aboutFields(refused: Flaws, { kind }: ScheduleForm): Flaws {
  const { cron: _, ...others } = refused
  return kind === 'cron' ? refused : others
}
