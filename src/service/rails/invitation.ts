import type { InvitationView } from '../../features/access/restrictions-schema.ts'
import { Refusal } from '../../api/refusals.ts'
import { formatInstant, type Instant } from '../../domain/instant.ts'
import type { Ports } from '../ports.ts'
import { attemptKeyText, type NamedAttempt } from './attempt-keys.ts'

/** An attempt of an agent that makes things by itself, and until when it may go on. */
export interface Invited extends NamedAttempt {
  readonly endsBy: Instant | null
}

/**
 * What an attempt needs to speak with us: where we are, and a key of its own. Null where the key outside the database is
 * missing by now: the attempt goes on without.
 */
export async function invite(
  ports: Pick<Ports, 'vault'>,
  attempt: Invited,
  apiUrl: string | null,
): Promise<InvitationView | null> {
  try {
    return {
      api_url: apiUrl,
      mcp_url: apiUrl === null ? null : new URL('/mcp', apiUrl).href,
      key: await attemptKeyText(ports, attempt),
      expires_at: attempt.endsBy === null ? null : formatInstant(attempt.endsBy),
    }
  } catch (error) {
    if (error instanceof Refusal) return null
    throw error
  }
}
