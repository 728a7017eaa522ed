/** Something to tell the person, with a way back where there is one. */
export interface Toast {
  readonly id: number
  readonly tone: 'done' | 'failed'
  readonly message: string
  /** Takes back what was done. Left out: there is no way back. */
  readonly undo?: () => void
  /** When it goes by itself. */
  readonly until: number
}

type Given = Omit<Toast, 'id' | 'until'> & {
  /** Called when the time for undo has passed. */
  readonly settle?: () => void
}

/** As long as something can be taken back. */
export const UNDO_MS = 10_000
const SHOWN_MS = 5_000

let toasts: readonly Toast[] = []
let count = 0
const hearers = new Set<() => void>()
const settlers = new Map<number, { readonly settle: () => void; readonly timer: ReturnType<typeof setTimeout> }>()

function tell(next: readonly Toast[]): void {
  toasts = next
  for (const hear of hearers) hear()
}

/** Shows a message; one with a way back stays for ten seconds. */
export function toast({ settle, ...given }: Given): void {
  count += 1
  const id = count
  const shownMs = given.undo === undefined ? SHOWN_MS : UNDO_MS
  tell([...toasts, { ...given, id, until: Date.now() + shownMs }])
  settlers.set(id, { settle: settle ?? (() => undefined), timer: setTimeout(() => end(id), shownMs) })
}

function end(id: number): void {
  const settler = settlers.get(id)
  if (settler === undefined) return
  clearTimeout(settler.timer)
  settlers.delete(id)
  tell(toasts.filter((one) => one.id !== id))
  settler.settle()
}

/** The person has read it: it goes, and what it told is certain. */
export const dismiss = end

/** Takes back what a message told. */
export function takeBack({ id, undo }: Toast): void {
  const settler = settlers.get(id)
  if (settler === undefined) return
  clearTimeout(settler.timer)
  settlers.delete(id)
  tell(toasts.filter((one) => one.id !== id))
  undo?.()
}

/** For `useSyncExternalStore`. */
export function subscribeToasts(hear: () => void): () => void {
  hearers.add(hear)
  return () => void hearers.delete(hear)
}

/** What is shown now. */
export const currentToasts = (): readonly Toast[] => toasts
