import { useDebouncedValue } from '@mantine/hooks'
import { useMemo } from 'react'
import type { ScheduleInput } from '../../../src/features/schedules/schema.ts'
import type { SimulateInput } from '../../../src/features/simulation/schema.ts'
import { useSimulation, type Simulation } from '../../ribbon/use-simulation.ts'
import type { ScheduleForm } from '../form/form.ts'
import { newInput } from '../form/input-of.ts'

const SLIDING_MS = 200

/** Fields that do not change when runs start, or that do not belong in a URL. */
const LEFT_OUT: ReadonlySet<string> = new Set(['payload', 'description', 'delivery', 'alert_after'])

/** The fields of the form that say when its runs go, and how. */
export const simulatedInput = (form: ScheduleForm): ScheduleInput =>
  Object.fromEntries(
    Object.entries(newInput({ ...form, payload_as: 'text', enabled: true })).filter(([name]) => !LEFT_OUT.has(name)),
  )

interface Day {
  readonly from: number
  readonly span: number
  /** How long a run takes. */
  readonly tookMs: number
}

/** Simulates a stretch of the schedule on the server after each pause in typing or sliding. */
export function useDay(form: ScheduleForm, { from, span, tookMs }: Day): Simulation {
  const typed = useMemo(
    () =>
      JSON.stringify({
        schedules: [simulatedInput(form)],
        ...{ from: new Date(from).toISOString(), window_seconds: Math.max(1, Math.round(span / 1_000)) },
        ...{ assume: { duration_ms: tookMs }, budgets: false, max_rows: 500 },
      } satisfies SimulateInput),
    [form, from, span, tookMs],
  )
  const [asked] = useDebouncedValue(typed, SLIDING_MS)
  return useSimulation(useMemo(() => JSON.parse(asked) as SimulateInput, [asked]))
}
