import {
  IconCircleCheckFilled,
  IconCircleDashed,
  IconCircleMinus,
  IconClockExclamation,
  IconPlayerPlayFilled,
  IconSquareXFilled,
} from '@tabler/icons-react'
import type { ReactNode } from 'react'
import type { RunView } from '../../../src/features/runs/schema.ts'
import { useSay } from '../../texts/TextProvider.tsx'
import { outcomeColor, outcomeOf, type Outcome } from './outcome.ts'

/** Each outcome has its own shape, so that it can be told without colors. */
const ICONS: Readonly<Record<Outcome, typeof IconCircleMinus>> = {
  success: IconCircleCheckFilled,
  failure: IconSquareXFilled,
  late: IconClockExclamation,
  quiet: IconCircleMinus,
  active: IconPlayerPlayFilled,
  waiting: IconCircleDashed,
}

/** The state of a run: icon, and the word unless only the icon is wanted; then the word is what it is called. */
export function OutcomeMark({
  status,
  bare = false,
}: {
  readonly status: RunView['status']
  readonly bare?: boolean
}): ReactNode {
  const say = useSay()
  const outcome = outcomeOf(status)
  const Icon = ICONS[outcome]
  const word = say(`status.${status}`)
  return (
    <span className="outcome" style={{ color: outcomeColor(outcome) }}>
      <Icon size={15} aria-hidden={!bare} {...(bare ? { role: 'img', 'aria-label': word } : {})} />
      {!bare && <span className="outcome-word">{word}</span>}
    </span>
  )
}
