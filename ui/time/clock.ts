import { useSyncExternalStore } from 'react'

// One timer for everything on the page that tells time.

let now = Date.now()
let timer: ReturnType<typeof setInterval> | null = null
const hearers = new Set<() => void>()

function tick(): void {
  now = Date.now()
  for (const hear of hearers) hear()
}

function subscribe(hear: () => void): () => void {
  hearers.add(hear)
  now = Date.now()
  timer ??= setInterval(tick, 1_000)
  return () => {
    hearers.delete(hear)
    if (hearers.size > 0 || timer === null) return
    clearInterval(timer)
    timer = null
  }
}

/** The current time, updated every `stepMs`; components that show minutes are rendered once a minute. */
export const useNow = (stepMs = 1_000): number =>
  useSyncExternalStore(subscribe, () => Math.floor(now / stepMs) * stepMs)
