import { Button } from '@mantine/core'
import { IconAlertTriangle, IconRefresh } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { EscapementError } from '../../src/client/errors.ts'
import { isGone, messageOf } from '../api/refusal.ts'
import { useSay } from '../texts/TextProvider.tsx'

interface ErrorStateProps {
  readonly error: unknown
  readonly retry?: () => void
}

/** What is shown where something could not be read: why, the id to find it in the log by, and a way to try again. */
export function ErrorState({ error, retry }: ErrorStateProps): ReactNode {
  const say = useSay()
  const requestId = error instanceof EscapementError ? error.requestId : null
  return (
    <section className="empty" role="alert">
      <div className="empty-icon">
        <IconAlertTriangle size={22} aria-hidden />
      </div>
      <h2>{isGone(error) ? say('error.gone') : say('error.title')}</h2>
      <p>{messageOf(error, say)}</p>
      {requestId !== null && <p className="quiet">{say('error.requestId', { id: requestId })}</p>}
      {retry !== undefined && (
        <Button variant="default" leftSection={<IconRefresh size={14} aria-hidden />} onClick={retry}>
          {say('action.retry')}
        </Button>
      )}
    </section>
  )
}
