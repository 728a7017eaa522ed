import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import type { PreviewInput, SchedulePreview } from '../../../src/features/schedules/views-schema.ts'
import { api } from '../../api/client.ts'
import { fieldErrorsOf } from '../../api/refusal.ts'
import type { ScheduleForm } from '../form/form.ts'
import { timingInput } from '../form/input-of.ts'

const TYPING_MS = 250
const LISTED = 10
/** As many as a day of five-minute intervals has. */
const DRAWN = 300
const DAY = 86_400_000

/** What the server says about when a schedule would happen. */
export interface Preview {
  /** Undefined until there is something to say. */
  readonly view: SchedulePreview | undefined
  /** What it would be on the day that is drawn. */
  readonly day: readonly number[]
  /** What is wrong with the fields that say when. */
  readonly flaws: Readonly<Record<string, string>>
  readonly error: unknown
  /** What is shown is about something that was typed before. */
  readonly isOld: boolean
}

/** Previews the schedule on the server after each pause in typing. */
export function usePreview(form: ScheduleForm): Preview {
  const typed = JSON.stringify(timingInput(form))
  const [asked] = useDebouncedValue(typed, TYPING_MS)
  const isEmpty = !isSaid(typed) || !isSaid(asked)
  const listed = useQuery({ ...previewOf(asked, LISTED), enabled: !isEmpty })
  const view = listed.error === null && !isEmpty ? listed.data : undefined
  const next = (view?.next ?? []).map((at) => Date.parse(at))
  const isDense = next.length === LISTED && (next.at(-1) ?? 0) - (next[0] ?? 0) < DAY
  const dense = useQuery({ ...previewOf(asked, DRAWN), enabled: isDense && !isEmpty })
  const drawn = isDense && dense.data !== undefined ? dense.data.next.map((at) => Date.parse(at)) : next
  return {
    view,
    day: drawn.filter((at) => at < (drawn[0] ?? 0) + DAY),
    flaws: isEmpty ? {} : fieldErrorsOf(listed.error),
    error: isEmpty ? null : listed.error,
    isOld: typed !== asked || listed.isPlaceholderData || (listed.isPending && !isEmpty),
  }
}

/** Whether the form has a timing: the one that is typed, and the one sent after the pause. */
function isSaid(timing: string): boolean {
  const { at, every_seconds: every, cron, rrule } = JSON.parse(timing) as PreviewInput
  return [at, every, cron, rrule].some((when) => when != null)
}

const previewOf = (asked: string, count: number) =>
  queryOptions({
    queryKey: ['schedules', 'preview', asked, count],
    queryFn: ({ signal }) => api.schedules.preview({ ...(JSON.parse(asked) as PreviewInput), count }, { signal }),
    placeholderData: keepPreviousData,
  })
