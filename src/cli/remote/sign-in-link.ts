import { EscapementError } from '../../client/errors.ts'
import type { Talk } from './talk.ts'

/**
 * The address that signs in, under the name by which people reach the console: `server.public_url` where it is set, else
 * the address that was asked. The token is in its fragment, which no server and no proxy gets to see.
 */
export async function signInLink(talk: Pick<Talk, 'client' | 'url'>, token: string): Promise<string> {
  const known = (await publicUrl(talk)) ?? talk.url
  return `${known.replace(/\/$/, '')}/#signin=${token}`
}

/** A link with the address that signs in. */
export const withLink = async <Link extends { readonly token: string }>(
  talk: Pick<Talk, 'client' | 'url'>,
  link: Link,
): Promise<Link & { readonly url: string }> => ({ ...link, url: await signInLink(talk, link.token) })

/** Only the operator sees settings; others have asked under a name they know. A link that was made is not lost over it. */
async function publicUrl({ client }: Pick<Talk, 'client'>): Promise<string | null> {
  try {
    const { values } = await client.config.get()
    const value = values['server.public_url']?.value
    return typeof value === 'string' ? value : null
  } catch (error) {
    if (error instanceof EscapementError) return null
    throw error
  }
}
