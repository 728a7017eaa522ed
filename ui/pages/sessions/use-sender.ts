import { useMe } from '../../api/session.ts'

/**
 * Who one is in a conversation: what is sent in quick succession by the same sender is merged. The name of the member,
 * or the id of the key that somebody signed in with.
 */
export function useSender(): string | undefined {
  const me = useMe()
  return me?.member?.name ?? me?.id
}
