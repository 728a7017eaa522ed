import { useEffect, useState } from 'react'

/** Gives the focus back to what had it before a drawer opened; a drawer that is mounted open cannot know by itself. */
export function useReturnFocus(): void {
  const [before] = useState(() => (document.activeElement instanceof HTMLElement ? document.activeElement : null))
  useEffect(
    () => () => {
      // The trap of the drawer lets go first.
      setTimeout(() => {
        if (before?.isConnected === true) before.focus()
      })
    },
    [before],
  )
}
