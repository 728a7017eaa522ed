import type { ReactNode } from 'react'
import type { ExplainLink } from '../../../src/features/explain/schema.ts'
import { Door } from '../Door.tsx'
import { ShortId } from '../ShortId.tsx'
import './explain.css'

/** What an explanation leads to, each a door to where the console shows it. */
export function Doors({ links }: { readonly links: readonly ExplainLink[] }): ReactNode {
  return (
    <ul className="doors">
      {links.map(({ kind, id, role, console }) => (
        <li key={`${kind} ${id}`}>
          <span className="quiet small">{role.replaceAll('_', ' ')}</span>{' '}
          <Door to={console} className="door door-seen">
            {/^[a-z]{3}_/.test(id) ? <ShortId id={id} /> : id}
          </Door>
        </li>
      ))}
    </ul>
  )
}
