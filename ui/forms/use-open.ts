import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useCallback } from 'react'
import { readSettingsSearch } from './settings-search.ts'

/** Which thing of the section is open, and how another is opened: it is in the address. */
export function useOpen(): { readonly open: string | undefined; readonly show: (id: string | null) => void } {
  const { section } = useParams({ from: '/shell/settings/$section' })
  const { open } = useSearch({
    ...{ from: '/shell/settings/$section', select: readSettingsSearch, structuralSharing: true },
  })
  const navigate = useNavigate()
  const show = useCallback(
    (id: string | null) =>
      void navigate({ to: '/settings/$section', params: { section }, search: id === null ? {} : { open: id } }),
    [navigate, section],
  )
  return { open, show }
}
