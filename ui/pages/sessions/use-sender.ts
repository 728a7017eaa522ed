import { useMe } from '../../api/session.ts'

/**
 * The sender of chat messages; messages sent in quick succession by the same sender are merged. The name of the member,
 * or the ID of the key used to sign in.
 */
export function useSender(): string | undefined {
  const me = useMe()
  return me?.member?.name ?? me?.id
}
