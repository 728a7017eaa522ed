import { useEffect, useRef } from 'react'

/** What keys do: `mod+k` (⌘ or Ctrl), `?`, `j`, or two after each other as in `g s`. */
export type Shortcuts = Readonly<Record<string, (event: KeyboardEvent) => void>>

const PAIR_MS = 900
const TYPING = 'input, textarea, select, [contenteditable="true"], [role="combobox"]'

/** Whether the keys belong to a field or to a dialog that is open. */
function isTaken(event: KeyboardEvent): boolean {
  const target = event.target instanceof Element ? event.target : null
  if (target?.closest(TYPING) != null && !target.matches('input[type="checkbox"]')) return true
  return document.querySelector('[role="dialog"]') !== null
}

/** Handles keys while the component is mounted. In text fields only `mod+` keys are handled. */
export function useShortcuts(shortcuts: Shortcuts): void {
  const current = useRef(shortcuts)
  useEffect(() => {
    current.current = shortcuts
  })
  useEffect(() => {
    let before = ''
    let at = 0
    const hear = (event: KeyboardEvent): void => {
      const isMod = event.metaKey || event.ctrlKey
      if (event.altKey || event.defaultPrevented || (!isMod && isTaken(event))) return
      const key = isMod ? `mod+${event.key.toLowerCase()}` : event.key
      const pair = performance.now() - at < PAIR_MS ? `${before} ${key}` : ''
      const act = current.current[pair] ?? current.current[key]
      before = key
      at = performance.now()
      if (act === undefined) return
      event.preventDefault()
      act(event)
    }
    addEventListener('keydown', hear)
    return () => {
      removeEventListener('keydown', hear)
    }
  }, [])
}
