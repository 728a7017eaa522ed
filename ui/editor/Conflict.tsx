import { Code } from '@mantine/core'
import { IconUsers } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { useSay } from '../texts/TextProvider.tsx'
import type { Difference } from './form/differences.ts'

const MOST_CHARS = 120

const short = (value: unknown): string => {
  const text = typeof value === 'string' ? value : JSON.stringify(value ?? null)
  return text.length > MOST_CHARS ? `${text.slice(0, MOST_CHARS)}…` : text
}

/** Shown when another user has saved meanwhile: what they changed, and that the local edits are still there. */
export function Conflict({ differences }: { readonly differences: readonly Difference[] }): ReactNode {
  const say = useSay()
  if (differences.length === 0) return null
  return (
    <section className="conflict" role="alert" aria-label={say('edit.conflict')}>
      <h3>
        <IconUsers size={16} aria-hidden /> {say('edit.conflict')}
      </h3>
      <p>{say('edit.conflict.text')}</p>
      <ul>
        {differences.map(({ field, before, after, isMine }) => (
          <li key={field}>
            <code className="code-tag">{field}</code> <Code>{short(before)}</Code> {'→'} <Code>{short(after)}</Code>
            {isMine && <strong className="late"> {say('edit.conflict.mine')}</strong>}
          </li>
        ))}
      </ul>
    </section>
  )
}
