import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { useSay } from '../texts/TextProvider.tsx'

/** What is shown in place of a page that broke. */
export function Crash({ error, reset }: { readonly error: unknown; readonly reset: () => void }): ReactNode {
  const say = useSay()
  return (
    <section className="empty" role="alert">
      <h2>{say('error.crash')}</h2>
      <p>{say('error.crashHint')}</p>
      <p className="quiet">{error instanceof Error ? error.message : String(error)}</p>
      <Button variant="default" onClick={reset}>
        {say('action.retry')}
      </Button>
    </section>
  )
}
