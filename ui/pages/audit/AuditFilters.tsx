import { Button, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useState, type ReactNode } from 'react'
import { useSay } from '../../texts/TextProvider.tsx'
import { wallTime } from './wall-time.ts'
import type { AuditSearch } from './audit-search.ts'

/** What parts of the address are changed to; null leaves one out. */
export type AuditChange = { readonly [Name in keyof AuditSearch]?: string | null }

interface AuditFiltersProps {
  readonly search: AuditSearch
  readonly change: (part: AuditChange) => void
}

const TYPING_MS = 250

/** What narrows the records down: who, what, which object, when. */
export function AuditFilters({ search, change }: AuditFiltersProps): ReactNode {
  const say = useSay()
  const { record: _, ...filter } = search
  const text = (name: 'actor' | 'action' | 'object_kind' | 'object_id', label: string): ReactNode => (
    <Typed
      key={`${name} ${search[name] ?? ''}`}
      {...{ given: search[name] ?? '', label }}
      set={(value) => change({ [name]: value })}
    />
  )
  const moment = (name: 'from' | 'to', label: string): ReactNode => (
    <TextInput
      {...{ type: 'datetime-local', label, value: wallTime(search[name]) }}
      onChange={(event) => {
        const { value } = event.currentTarget
        change({ [name]: value === '' ? null : new Date(value).toISOString() })
      }}
    />
  )
  return (
    <div className="tools audit-tools" role="search">
      {text('actor', say('audit.actor'))}
      {text('action', say('audit.action'))}
      {text('object_kind', say('audit.objectKind'))}
      {text('object_id', say('audit.objectId'))}
      {moment('from', say('audit.from'))}
      {moment('to', say('audit.to'))}
      {Object.keys(filter).length > 0 && (
        <Button
          variant="subtle"
          color="gray"
          onClick={() =>
            change({ actor: null, action: null, object_kind: null, object_id: null, from: null, to: null })
          }
        >
          {say('action.clear')}
        </Button>
      )}
    </div>
  )
}

interface TypedProps {
  readonly given: string
  readonly label: string
  readonly set: (value: string) => void
}

/** A field that tells what was typed once the typing pauses. */
function Typed({ given, label, set }: TypedProps): ReactNode {
  const [value, setValue] = useState(given)
  const settle = useDebouncedCallback(set, TYPING_MS)
  return (
    <TextInput
      {...{ label, value, autoComplete: 'off', spellCheck: false }}
      onChange={(event) => {
        setValue(event.currentTarget.value)
        settle(event.currentTarget.value.trim())
      }}
    />
  )
}
