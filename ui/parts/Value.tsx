import type { ReactNode } from 'react'
import './value.css'

interface ValueProps {
  readonly value: unknown
  /** What it is, for those who come to it by keys. */
  readonly label: string
  /** Whether it may be as long as it is; else it scrolls. */
  readonly isWhole?: boolean
}

/** A text as it was written, and anything else as JSON that people can read. */
export function Value({ value, label, isWhole = false }: ValueProps): ReactNode {
  const isText = typeof value === 'string'
  return (
    <pre className="value" data-kind={isText ? 'text' : 'json'} data-whole={isWhole} tabIndex={0} aria-label={label}>
      {isText ? value : JSON.stringify(value, null, 2)}
    </pre>
  )
}
