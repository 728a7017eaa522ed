import { queryOptions, useQuery } from '@tanstack/react-query'
import type { MeView, PermissionName } from '../../src/features/access/schema.ts'
import { api, setCsrfToken } from './client.ts'
import { queryClient } from './query-client.ts'

/** Who is signed in; its failure with 401 is what sends people to the sign-in page. */
export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: async ({ signal }) => {
    const me = await api.auth.me({ signal })
    setCsrfToken(me.csrf_token)
    return me
  },
  staleTime: Infinity,
})

/** Exchanges the token of a link, or a key, for the cookie of the console. Neither is kept. */
export async function signIn(given: { readonly token: string } | { readonly key: string }): Promise<MeView> {
  const session = await api.auth.signIn(given)
  setCsrfToken(session.csrf_token)
  return queryClient.query({ ...meQuery, staleTime: 0 })
}

/** Signs this browser out, and forgets everything that was read. */
export async function signOut(): Promise<void> {
  await api.auth.signOut()
  setCsrfToken(null)
  queryClient.clear()
}

/** Who is signed in; undefined until it is known. */
export const useMe = (): MeView | undefined => useQuery(meQuery).data

/** Whether the signed-in user has a permission; false until the user is known. */
export function useMay(permission: PermissionName): boolean {
  return useMe()?.permissions.includes(permission) === true
}

/** Whether the person may change lanes, configuration and orgs. */
export const useIsOperator = (): boolean => useMe()?.operator === true
