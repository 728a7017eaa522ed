import { useNavigate, useSearch } from '@tanstack/react-router'

type Search = Readonly<Record<string, unknown>>

/** Whether a new conversation is being begun, and how that starts and ends. It is in the address. */
export function useBegin(): { readonly isOpen: boolean; readonly open: () => void; readonly close: () => void } {
  const navigate = useNavigate()
  const isOpen = useSearch({ strict: false, select: ({ begin }) => begin === true })
  const change = (begin: true | undefined): void =>
    void navigate({ to: '.', search: ((now: Search) => ({ ...now, begin })) as never, resetScroll: false })
  return { isOpen, open: () => change(true), close: () => change(undefined) }
}
