import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useSay } from '../texts/TextProvider.tsx'

/** What is shown at an address that leads nowhere. */
export function NotFound(): ReactNode {
  const say = useSay()
  return (
    <section className="empty">
      <h1 className="not-found">{say('error.notFound')}</h1>
      <p>{say('error.notFoundHint')}</p>
      <Button component={Link} to="/">
        {say('error.home')}
      </Button>
    </section>
  )
}
