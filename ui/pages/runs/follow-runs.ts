import { onEvent } from '../../api/live.ts'
import { countNew, withChanges, withFacts, withFront, type RunLog } from './one/run-log.ts'
import type { RunRowPage } from './run-row.ts'

/** What is heard first is shown at once; what follows is gathered, so that much happening costs no more than a little. */
const FIRST_MS = 120
const EVERY_MS = 1_000

interface Followed {
  /** The states that the list is about; null: all. */
  readonly wanted: readonly string[] | null
  readonly isAtTop: () => boolean
  readonly read: () => Promise<RunRowPage>
  readonly current: () => RunLog | undefined
  readonly put: (change: (log: RunLog) => RunLog) => void
  /** How many runs wait above the list. */
  readonly tellNew: (count: number) => void
}

/**
 * Keeps a list of runs true with one small request a second at most, however much happens and however far one has
 * scrolled: what events say is put into the rows, and the front of the list is read again.
 */
export function followRuns(followed: Followed): { readonly look: () => void; readonly stop: () => void } {
  const heard = new Map<string, { readonly at: string; readonly data: Readonly<Record<string, unknown>> }>()
  let timer: ReturnType<typeof setTimeout> | null = null
  let readAt = 0
  let waiting = 0
  let isOver = false
  const read = async (): Promise<void> => {
    readAt = Date.now()
    const changes = new Map(heard)
    heard.clear()
    followed.put((log) => withChanges(log, changes, followed.wanted))
    const front = await followed.read().catch(() => null)
    const log = followed.current()
    if (isOver || front === null || log === undefined) return
    const isAtTop = followed.isAtTop()
    waiting = isAtTop ? 0 : countNew(log, front)
    followed.put((now) => (isAtTop ? withFront(now, front) : withFacts(now, front)))
    followed.tellNew(waiting)
  }
  const soon = (): void => {
    timer ??= setTimeout(
      () =>
        void read().finally(() => {
          timer = null
          if (heard.size > 0 && !isOver) soon()
        }),
      Math.max(FIRST_MS, readAt + EVERY_MS - Date.now()),
    )
  }
  const deaf = onEvent(({ kind, subject, at, data }) => {
    if (kind !== 'run.changed') return
    heard.set(subject, { at, data })
    soon()
  })
  // The list may be from when one was here before.
  if (followed.current() !== undefined) soon()
  return {
    look: () => {
      if (waiting > 0 && followed.isAtTop()) soon()
    },
    stop: () => {
      isOver = true
      deaf()
      if (timer !== null) clearTimeout(timer)
    },
  }
}
