import { useRouter, type ErrorComponentProps } from '@tanstack/react-router'
import { useEffect, type ReactNode } from 'react'
import { isUnreachable } from '../api/refusal.ts'
import { Crash } from '../parts/Crash.tsx'
import { ErrorState } from '../parts/ErrorState.tsx'

const TRY_AGAIN_MS = 3_000

/** What is shown in place of a page that could not come up. When the server was away, it is tried again by itself. */
export function PageCrash({ error, reset }: ErrorComponentProps): ReactNode {
  const router = useRouter()
  const isAway = isUnreachable(error)
  useEffect(() => {
    if (!isAway) return
    const timer = setInterval(() => void router.invalidate(), TRY_AGAIN_MS)
    return () => {
      clearInterval(timer)
    }
  }, [isAway, router])
  const again = (): void => {
    reset()
    void router.invalidate()
  }
  return isAway ? <ErrorState error={error} retry={again} /> : <Crash error={error} reset={again} />
}
