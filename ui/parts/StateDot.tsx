import type { ReactNode } from 'react'
import type { ScheduleView } from '../../src/features/schedules/schema.ts'
import { useSay } from '../texts/TextProvider.tsx'

/** The state of a schedule as a dot whose shape says it too: full, hollow, square, ring. */
export function StateDot({ state }: { readonly state: ScheduleView['state'] }): ReactNode {
  const word = useSay()(`state.${state}`)
  return <span className="state-dot" data-state={state} role="img" aria-label={word} title={word} />
}
