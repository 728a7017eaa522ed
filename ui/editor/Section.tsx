import { useEffect, useRef, type ReactNode } from 'react'

interface SectionProps {
  readonly title: string
  readonly number: number
  readonly children: ReactNode
}

/** A part of the form that is always open. */
export function Section({ title, number, children }: SectionProps): ReactNode {
  return (
    <section className="edit-section" style={{ order: number }} aria-label={title}>
      <h3>{title}</h3>
      {children}
    </section>
  )
}

interface FoldProps extends SectionProps {
  /** What is chosen in it, while it is closed. */
  readonly summary: string
  /** Something in it is wrong, so that it must be seen. */
  readonly isWrong: boolean
}

/** A part of the form with good defaults: closed, it says what they are. */
export function Fold({ title, number, summary, isWrong, children }: FoldProps): ReactNode {
  const ref = useRef<HTMLDetailsElement>(null)
  useEffect(() => {
    if (isWrong && ref.current !== null) ref.current.open = true
  }, [isWrong])
  return (
    <details ref={ref} className="edit-section edit-fold" style={{ order: number }}>
      <summary>
        <h3>{title}</h3>
        <span className="edit-summary">{summary}</span>
      </summary>
      <div className="edit-folded">{children}</div>
    </details>
  )
}
