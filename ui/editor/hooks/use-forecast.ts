import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { ScheduleForecast, ScheduleForecastInput } from '../../../src/features/forecast/schema.ts'
import { api } from '../../api/client.ts'
import { useEditor } from '../context.ts'
import type { ScheduleForm } from '../form/form.ts'
import { inputOf, newInput, payloadInput } from '../form/input-of.ts'

/** How far an estimate looks ahead. */
export const COST_DAYS = 30

/** Longer than for the next times: it is asked for less often than it is typed. */
const TYPING_MS = 700

/** What the schedule in the editor would use; undefined while the form has errors. */
export function useForecast(scheduleId: string | null): ScheduleForecast | undefined {
  const { form } = useEditor()
  const typed = JSON.stringify(inputFor(form, scheduleId))
  const [asked] = useDebouncedValue(typed, TYPING_MS)
  const { data, error } = useQuery({
    queryKey: ['schedules', 'forecast', asked],
    queryFn: ({ signal }) =>
      api.schedules.forecast({ ...(JSON.parse(asked) as ScheduleForecastInput), days: COST_DAYS }, { signal }),
    placeholderData: keepPreviousData,
    retry: false,
  })
  return error === null ? data : undefined
}

/** What is asked about. A payload that is no JSON yet says nothing about when and how much. */
function inputFor(form: ScheduleForm, id: string | null): ScheduleForecastInput {
  const given = isJson(form) ? form : { ...form, payload_as: 'text' as const }
  return id === null ? newInput(given) : { ...(inputOf(given) as ScheduleForecastInput), id }
}

function isJson(form: ScheduleForm): boolean {
  try {
    payloadInput(form)
    return true
  } catch {
    return false
  }
}
