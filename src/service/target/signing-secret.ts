import { randomBytes } from 'node:crypto'
import { Refusal } from '../../api/refusals.ts'
import type { SigningSecretView } from '../../features/targets/schema.ts'
import type { OrgId } from '../../domain/ids.ts'
import { DAY_MS, formatInstant, later, type Instant } from '../../domain/instant.ts'
import {
  keepSigningSecret,
  loadClearSigningSecrets,
  loadSigningSecret,
  rotateSigningSecret,
  sealSigningSecret,
  type KeptText,
  type SigningSecret,
} from '../../store/signing-secrets.ts'
import { acted, actorOf } from '../../features/audit/entry.ts'
import type { Caller } from '../caller.ts'
import type { Ports } from '../ports.ts'
import type { SealedPlace } from '../secret/vault-port.ts'

/** How long the secret before signs too: receivers have that long to learn the new one. */
const BOTH_SIGN_MS = DAY_MS

type Keeping = Pick<Ports, 'database' | 'vault'>

/** A secret as Standard Webhooks writes it: 192 bits. */
const newSecret = (): string => `whsec_${randomBytes(24).toString('base64')}`

const placeOf = (orgId: OrgId): SealedPlace => ({ orgId, kind: 'signing_secret', name: orgId })

/**
 * A new secret as it is kept. It stays clear while a node is alive that could not open it, one of the release before above
 * all: every node signs, so every node has to read it.
 */
async function freshFor({ vault }: Keeping, orgId: OrgId): Promise<KeptText> {
  const clear = newSecret()
  return (await vault.isCommon()) ? { sealed: await vault.seal(clear, placeOf(orgId)) } : { clear }
}

const textOf = ({ vault }: Keeping, kept: KeptText, orgId: OrgId): Promise<string> =>
  'clear' in kept ? Promise.resolve(kept.clear) : vault.open(kept.sealed, placeOf(orgId))

async function ensure(ports: Keeping, { orgId, now }: { orgId: OrgId; now: Instant }): Promise<SigningSecret> {
  const known = await loadSigningSecret(ports.database, orgId)
  if (known !== undefined) return known
  return keepSigningSecret(ports.database, { orgId, now, fresh: await freshFor(ports, orgId) })
}

/** What webhooks of an org are signed with at a moment; the newest first. */
export async function secretsOf(
  ports: Keeping,
  asked: { readonly orgId: OrgId; readonly now: Instant },
): Promise<readonly string[]> {
  const { secret, previous } = await ensure(ports, asked)
  const signing = previous !== null && previous.until > asked.now ? [secret, previous.secret] : [secret]
  return Promise.all(signing.map((kept) => textOf(ports, kept, asked.orgId)))
}

/** What webhooks of the org are signed with. It is made when somebody first asks or something is first sent. */
export async function getSigningSecret(ports: Ports, { orgId }: Caller): Promise<SigningSecretView> {
  const now = ports.clock.now()
  const kept = await ensure(ports, { orgId, now })
  return viewSecret(kept, await textOf(ports, kept.secret, orgId), now)
}

/** Makes a new secret. For a day both sign, so that receivers can be changed one after the other. */
export async function rotateSecret(ports: Ports, caller: Caller): Promise<SigningSecretView> {
  const { orgId } = caller
  const fresh = await freshFor(ports, orgId)
  const text = await textOf(ports, fresh, orgId)
  const bothSignMs = (await isLost(ports, orgId)) ? 0 : BOTH_SIGN_MS
  return ports.turns.take({
    orgId,
    prepare: async (tx, now) => {
      const kept = await rotateSigningSecret(tx, { orgId, fresh, now, previousUntil: later(now, bothSignMs) })
      return viewSecret(kept, text, now)
    },
    apply: (desk, prepared) => {
      const view = prepared as SigningSecretView
      const object = { kind: 'signing_secret', id: orgId } as const
      const after = { previous_until: view.previous_until }
      desk.changes.audits.push(acted(actorOf(caller), object, { verb: 'rotate', after }))
      return view
    },
  })
}

/** Whether the present secret was sealed with a key that is lost: then it cannot sign beside the new one. */
async function isLost(ports: Keeping, orgId: OrgId): Promise<boolean> {
  const known = await loadSigningSecret(ports.database, orgId)
  if (known === undefined) return false
  try {
    await textOf(ports, known.secret, orgId)
    return false
  } catch (error) {
    if (error instanceof Refusal) return true
    throw error
  }
}

const viewSecret = (
  { orgId, createdAt, previous }: SigningSecret,
  secret: string,
  now: Instant,
): SigningSecretView => ({
  org_id: orgId,
  secret,
  created_at: formatInstant(createdAt),
  previous_until: previous === null || previous.until <= now ? null : formatInstant(previous.until),
})

const BATCH = 100

/** Seals what was kept clear, once every node can open it. Answers with how many texts that were. */
export async function sealSigningSecrets(ports: Keeping): Promise<number> {
  const { database, vault } = ports
  let sealed = 0
  for (;;) {
    const rows = await loadClearSigningSecrets(database, BATCH)
    if (rows.length === 0 || !(await vault.isCommon())) return sealed
    for (const { orgId, secret, previous } of rows)
      for (const [column, kept] of [['secret', secret] as const, ['previous', previous?.secret ?? null] as const])
        if (kept !== null && 'clear' in kept) {
          const text = { orgId, clear: kept.clear, sealed: await vault.seal(kept.clear, placeOf(orgId)) }
          await sealSigningSecret(database, column, text)
          sealed += 1
        }
  }
}
