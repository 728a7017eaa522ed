import { createClient, type Client } from '../../src/client/client.ts'

let csrfToken: string | null = null

/** Kept in memory alone: it comes anew with who-am-I after each load of the page. */
export function setCsrfToken(token: string | null): void {
  csrfToken = token
}

/** The API of the server this page came from. The cookie of the console speaks; no key is ever kept here. */
export const api: Client = createClient({ csrfToken: () => csrfToken, retries: 1 })
