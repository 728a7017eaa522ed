import { useEffect, useState, type RefObject } from 'react'

/** How wide an element is, as it changes; 0 until it is known. */
export function useWidth(element: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0)
  useEffect(() => {
    const target = element.current
    if (target === null) return
    const observer = new ResizeObserver(() => setWidth(target.clientWidth))
    observer.observe(target)
    return () => {
      observer.disconnect()
    }
  }, [element])
  return width
}
