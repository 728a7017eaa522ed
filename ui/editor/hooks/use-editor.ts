import { useNavigate } from '@tanstack/react-router'
import type { EditorSearch } from '../form/editor-search.ts'

type Search = Readonly<Record<string, unknown>>

/** The address without the editor. */
const closed = ({ edit: _edit, draft: _draft, copy: _copy, ...rest }: Search): Search => rest

/** Opens the editor above the page one is on: `open({ edit: 'new', draft: run.id })`. */
export function useOpenEditor(): (search: EditorSearch) => void {
  const navigate = useNavigate()
  return (search) => void navigate({ ...HERE, search: ((now: Search) => ({ ...closed(now), ...search })) as never })
}

/** Closes the editor; what was typed is asked about unless it has been saved. */
export function useCloseEditor(): (isSaved: boolean) => Promise<void> {
  const navigate = useNavigate()
  return (isSaved) => navigate({ ...HERE, search: closed as never, ignoreBlocker: isSaved, replace: isSaved })
}

// The editor stands above every page, so that the address of no page in particular is meant.
const HERE = { to: '.', resetScroll: false } as const
