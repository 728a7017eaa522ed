const FRAGMENT = /^#signin=([\w-]+)$/

/** The token of the link this page was opened with. It leaves the address at once, and is handed out once. */
let token: string | null = FRAGMENT.exec(location.hash)?.[1] ?? null
if (token !== null) history.replaceState(history.state, '', location.pathname + location.search)

/** Whether this page was opened with a link that has not been used yet. */
export const hasLinkToken = (): boolean => token !== null

/** The token, once. */
export function takeLinkToken(): string | null {
  const taken = token
  token = null
  return taken
}
