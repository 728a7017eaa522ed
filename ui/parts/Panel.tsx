import type { ReactNode } from 'react'

interface PanelProps {
  readonly title?: string
  /** On the right of the title. */
  readonly aside?: ReactNode
  readonly children: ReactNode
  readonly className?: string
}

/** A sheet of paper on the ground of the page. */
export function Panel({ title, aside, children, className = '' }: PanelProps): ReactNode {
  return (
    <section className={`panel ${className}`} {...(title === undefined ? {} : { 'aria-label': title })}>
      {title !== undefined && (
        <header className="panel-head">
          <h2>{title}</h2>
          {aside}
        </header>
      )}
      {children}
    </section>
  )
}
