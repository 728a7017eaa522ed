import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useSay } from '../texts/TextProvider.tsx'

/** The mark of the house: an anchor on its wheel. */
export function Brand(): ReactNode {
  const say = useSay()
  return (
    <Link to="/" className="brand" aria-label={say('app.name')}>
      <img src="/mark.svg" alt="" width={24} height={24} />
      <span className="rail-label" aria-hidden>
        {say('app.name')}
      </span>
    </Link>
  )
}
