import { Code } from '@mantine/core'
import type { ReactNode } from 'react'

interface EmptyStateProps {
  readonly title: string
  readonly text: string
  readonly icon?: ReactNode
  /** The one command that fills it. */
  readonly command?: string
  /** The one button that fills it. */
  readonly action?: ReactNode
}

/** What is shown where nothing is yet: what it would be, and the one thing that makes it so. */
export function EmptyState({ title, text, icon, command, action }: EmptyStateProps): ReactNode {
  return (
    <section className="empty">
      {icon !== undefined && <div className="empty-icon">{icon}</div>}
      <h2>{title}</h2>
      <p>{text}</p>
      {command !== undefined && <Code className="empty-command">{command}</Code>}
      {action}
    </section>
  )
}
