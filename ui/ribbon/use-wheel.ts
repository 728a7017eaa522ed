import { useEffect, useRef, type RefObject } from 'react'
import { pan, zoom, type RibbonView } from './view.ts'

interface Wheeled {
  readonly view: RibbonView
  readonly setView: (view: RibbonView) => void
  readonly width: number
}

const ZOOM_PER_PIXEL = 0.002

/** Sideways moves in time; with ⌘ or Ctrl, or two fingers, it zooms around the pointer. Up and down is the page's. */
export function useWheel(element: RefObject<HTMLElement | null>, wheeled: Wheeled): void {
  const current = useRef(wheeled)
  useEffect(() => {
    current.current = wheeled
  })
  useEffect(() => {
    const target = element.current
    if (target === null) return
    const turn = (event: WheelEvent): void => {
      const { view, setView, width } = current.current
      const sideways = event.shiftKey ? event.deltaY : event.deltaX
      if (event.ctrlKey || event.metaKey) {
        const around = (event.clientX - target.getBoundingClientRect().left) / width
        setView(zoom(view, Math.exp(event.deltaY * ZOOM_PER_PIXEL), around))
      } else if (Math.abs(sideways) > Math.abs(event.shiftKey ? 0 : event.deltaY)) setView(pan(view, sideways / width))
      else return
      event.preventDefault()
    }
    // React listens passively, and a passive listener cannot keep the page where it is.
    target.addEventListener('wheel', turn, { passive: false })
    return () => {
      target.removeEventListener('wheel', turn)
    }
  }, [element])
}
