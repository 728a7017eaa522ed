import { useEffect, useState } from 'react'

/** Four times a second: fluent enough for bars that grow. */
const STEP_MS = 250

/** The current time, updated while something goes on. */
export function useLiveNow(isLive: boolean): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    if (!isLive) return
    const timer = setInterval(() => setNow(Date.now()), STEP_MS)
    return () => {
      clearInterval(timer)
    }
  }, [isLive])
  return now
}
