import type { ReactNode } from 'react'
import type { RunView } from '../../../../src/features/runs/schema.ts'
import { isPending } from '../../../api/run-actions.ts'
import { useSay } from '../../../texts/TextProvider.tsx'
import { useNow } from '../../../time/clock.ts'
import { spanText } from '../../../time/span.ts'

type Timed = Pick<RunView, 'started_at' | 'duration_ms' | 'status'>

/** How long a run took; while it goes on, how long it has been going. Nothing while it has not begun. */
export function Took({ run }: { readonly run: Timed }): ReactNode {
  const say = useSay()
  const { started_at: started, duration_ms: duration } = run
  if (duration !== null) return <span className="figures-inline">{spanText(duration, say)}</span>
  return started === null || !isPending(run) ? null : <Ticking since={Date.parse(started)} />
}

function Ticking({ since }: { readonly since: number }): ReactNode {
  const say = useSay()
  const now = useNow()
  return <span className="figures-inline run-ticking">{spanText(Math.max(0, now - since), say)}</span>
}
