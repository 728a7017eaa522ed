import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { EscapementError } from '../../../src/client/errors.ts'
import type { ScheduleView } from '../../../src/features/schedules/schema.ts'
import { api } from '../../api/client.ts'
import { fieldErrorsOf } from '../../api/refusal.ts'
import { differences, type Difference } from '../form/differences.ts'
import { formOf } from '../form/form-of.ts'
import type { ScheduleForm } from '../form/form.ts'
import { changeBetween, newInput, rebase } from '../form/input-of.ts'

type Flaws = Readonly<Record<string, string>>

/** The edited schedule: the version that the edits are based on, and the edits. */
interface Edited {
  readonly base: ScheduleForm
  readonly form: ScheduleForm
  /** Null for a schedule that does not exist yet. */
  readonly version: number | null
  /** Field errors from the server; each is cleared when its field changes. */
  readonly refused: Flaws
  /** What another user has changed meanwhile. */
  readonly theirs: readonly Difference[]
}

interface Begun {
  readonly start: ScheduleForm
  /** The schedule that is changed; null for a new one. */
  readonly schedule: ScheduleView | null
  /** The run that a new one is made of; null: of none. */
  readonly fromRun: string | null
  readonly saved: (schedule: ScheduleView) => void
}

/** The state of the editor and its way to the server. */
export function useEditorForm({ start, schedule, fromRun, saved }: Begun) {
  const queries = useQueryClient()
  const [edited, setEdited] = useState<Edited>(() => ({
    ...{ base: start, form: start, version: schedule?.version ?? null, refused: {}, theirs: [] },
  }))
  const { base, form, version } = edited
  const save = useMutation({
    mutationFn: async () => {
      if (schedule === null)
        return api.schedules.create(newInput(form), fromRun === null ? {} : { query: { from_run: fromRun } })
      const change = changeBetween(base, form)
      if (Object.keys(change).length === 0) return schedule
      return api.schedules.update(schedule.id, change, version === null ? {} : { ifMatch: version })
    },
    onSuccess: (view) => {
      queries.setQueryData(['schedules', 'get', view.id], view)
      void queries.invalidateQueries({ queryKey: ['schedules'] })
      saved(view)
    },
    onError: async (error) => {
      setEdited((now) => ({ ...now, refused: fieldErrorsOf(error) }))
      if (schedule === null || !isStale(error)) return
      const fresh = await api.schedules.get(schedule.id)
      queries.setQueryData(['schedules', 'get', schedule.id], fresh)
      setEdited((now) => rebased(now, fresh))
    },
  })
  const set = (part: Partial<ScheduleForm>): void =>
    setEdited((now) => ({ ...now, form: { ...now.form, ...part }, refused: without(now.refused, Object.keys(part)) }))
  return { ...edited, set, save, isChanged: !isSame(base, form) }
}

/** Whether another user saved first. */
export const isStale = (error: unknown): boolean => error instanceof EscapementError && error.status === 412

/** The edits on top of what is there now, and what has changed below them. */
function rebased(now: Edited, fresh: ScheduleView): Edited {
  const theirs = formOf(fresh)
  return {
    ...now,
    base: theirs,
    form: rebase({ from: now.base, to: now.form }, theirs),
    version: fresh.version,
    theirs: differences({ before: now.base, theirs, mine: now.form }),
  }
}

const isSame = (one: ScheduleForm, other: ScheduleForm): boolean =>
  Object.entries(one).every(([name, value]) => other[name as keyof ScheduleForm] === value)

/** Fields that the server knows under another name. */
const KNOWN_AS: Readonly<Record<string, string>> = {
  ...{ prompt: 'payload', output: 'payload', context: 'payload', json: 'payload', payload_as: 'payload' },
  ...{ every: 'every_seconds', unit: 'every_seconds', jitter_seconds: 'jitter_ms', target_id: 'delivery' },
  ...{ session_as: 'session', failure_ladder: 'failure_options', threshold: 'failure_options' },
  ...{ cooldown_seconds: 'failure_options', retry_as: 'retry_policy', strategy: 'retry_policy' },
  ...{ max_retries: 'retry_policy', base_seconds: 'retry_policy', max_seconds: 'retry_policy' },
  ...{ jitter: 'retry_policy', ladder: 'retry_policy', is_paced: 'cadence', pace_min: 'cadence' },
  ...{ pace_max: 'cadence', pace_stretch: 'cadence', pace_quiet_after: 'cadence' },
}

function without(flaws: Flaws, changed: readonly string[]): Flaws {
  const gone = changed.map((name) => KNOWN_AS[name] ?? name)
  return Object.fromEntries(Object.entries(flaws).filter(([field]) => !gone.includes(field.split('.')[0] ?? '')))
}
