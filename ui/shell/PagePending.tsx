import type { ReactNode } from 'react'
import { Lines } from '../parts/Lines.tsx'

/** What is shown while a page is on its way. */
export function PagePending(): ReactNode {
  return <Lines count={6} />
}
