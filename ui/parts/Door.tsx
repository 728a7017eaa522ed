import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

interface DoorProps {
  readonly to: string | undefined
  readonly children: ReactNode
  readonly className?: string
}

/** A link where there is something behind it, and plain text where there is not. */
export function Door({ to, children, className = 'door' }: DoorProps): ReactNode {
  return to === undefined ? (
    <span className={className}>{children}</span>
  ) : (
    <Link {...{ to, className }}>{children}</Link>
  )
}
