import { Button, CloseButton } from '@mantine/core'
import { IconAlertTriangle, IconCheck } from '@tabler/icons-react'
import { useSyncExternalStore, type ReactNode } from 'react'
import { useSay } from '../../texts/TextProvider.tsx'
import { useNow } from '../../time/clock.ts'
import { currentToasts, dismiss, subscribeToasts, takeBack, UNDO_MS, type Toast } from './toast-store.ts'

/** The messages at the edge of the window. */
export function Toasts(): ReactNode {
  const say = useSay()
  const toasts = useSyncExternalStore(subscribeToasts, currentToasts)
  return (
    <div className="toasts" role="region" aria-label={say('toast.region')} aria-live="polite">
      {toasts.map((one) => (
        <ToastLine key={one.id} toast={one} />
      ))}
    </div>
  )
}

function ToastLine({ toast }: { readonly toast: Toast }): ReactNode {
  const say = useSay()
  const now = useNow()
  const left = Math.min(UNDO_MS / 1_000, Math.max(1, Math.ceil((toast.until - now) / 1_000)))
  const Icon = toast.tone === 'done' ? IconCheck : IconAlertTriangle
  return (
    <div className="toast" data-tone={toast.tone} role={toast.tone === 'failed' ? 'alert' : 'status'}>
      <Icon size={16} aria-hidden />
      <span className="toast-message">{toast.message}</span>
      {toast.undo !== undefined && (
        <Button variant="light" onClick={() => takeBack(toast)}>
          {say('toast.undoIn', { count: left })}
        </Button>
      )}
      <CloseButton size="sm" aria-label={say('action.close')} onClick={() => dismiss(toast.id)} />
    </div>
  )
}
