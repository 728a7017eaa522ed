import { useSyncExternalStore } from 'react'

/** How well this page knows what happens. */
export type LiveStatus = 'connected' | 'resyncing' | 'offline'

interface Live {
  readonly status: LiveStatus
  /** When it was last certain that everything shown is as it is. */
  readonly since: number
}

let live: Live = { status: 'resyncing', since: Date.now() }
const hearers = new Set<() => void>()

/** Tells everybody who shows it how the connection is. */
export function setLiveStatus(status: LiveStatus): void {
  if (status === live.status) return
  live = { status, since: Date.now() }
  for (const hear of hearers) hear()
}

function subscribe(hear: () => void): () => void {
  hearers.add(hear)
  return () => void hearers.delete(hear)
}

/** How the connection is, and since when. */
export const useLive = (): Live => useSyncExternalStore(subscribe, () => live)
