import { randomBytes } from 'node:crypto'
import type { SigningSecretView } from '../contract/target.ts'
import type { OrgId } from '../core/ids.ts'
import { DAY_MS, formatInstant, later, type Instant } from '../core/instant.ts'
import { ensureSigningSecret, rotateSigningSecret, type SigningSecret } from '../store/signing-secrets.ts'
import { acted, actorOf } from './audit-entry.ts'
import type { Caller } from './caller.ts'
import type { Ports } from './ports.ts'

/** How long the secret before signs too: receivers have that long to learn the new one. */
const BOTH_SIGN_MS = DAY_MS

/** A secret as Standard Webhooks writes it: 192 bits. */
const newSecret = (): string => `whsec_${randomBytes(24).toString('base64')}`

/** What webhooks of an org are signed with at a moment; the newest first. */
export async function secretsOf(
  { database }: Pick<Ports, 'database'>,
  asked: { readonly orgId: OrgId; readonly now: Instant },
): Promise<readonly string[]> {
  const { secret, previous } = await ensureSigningSecret(database, { ...asked, fresh: newSecret() })
  return previous !== null && previous.until > asked.now ? [secret, previous.secret] : [secret]
}

/** What webhooks of the org are signed with. It is made when somebody first asks or something is first sent. */
export async function getSigningSecret(ports: Ports, { orgId }: Caller): Promise<SigningSecretView> {
  const now = ports.clock.now()
  return viewSecret(orgId, await ensureSigningSecret(ports.database, { orgId, now, fresh: newSecret() }), now)
}

/** Makes a new secret. For a day both sign, so that receivers can be changed one after the other. */
export function rotateSecret(ports: Ports, caller: Caller): Promise<SigningSecretView> {
  const { orgId } = caller
  return ports.turns.take({
    orgId,
    prepare: async (tx, now) => {
      const fresh = newSecret()
      const kept = await rotateSigningSecret(tx, { orgId, fresh, now, previousUntil: later(now, BOTH_SIGN_MS) })
      return viewSecret(orgId, kept, now)
    },
    apply: (desk, prepared) => {
      const view = prepared as SigningSecretView
      const object = { kind: 'signing_secret', id: orgId }
      const after = { previous_until: view.previous_until }
      desk.changes.audits.push(acted(actorOf(caller), object, { verb: 'rotate', after }))
      return view
    },
  })
}

const viewSecret = (orgId: OrgId, { secret, createdAt, previous }: SigningSecret, now: Instant): SigningSecretView => ({
  org_id: orgId,
  secret,
  created_at: formatInstant(createdAt),
  previous_until: previous === null || previous.until <= now ? null : formatInstant(previous.until),
})
