import { randomBytes } from 'node:crypto'
import { Refusal } from '../../api/refusals.ts'
import type { SigningSecretView } from './schema.ts'
import type { OrgId } from '../../domain/ids.ts'
import { DAY_MS, formatInstant, later, type Instant } from '../../domain/instant.ts'
import {
  insertSigningSecret,
  loadClearSigningSecrets,
  loadSigningSecret,
  rotateSigningSecret,
  sealSigningSecret,
  type StoredText,
  type SigningSecret,
} from './store.ts'
import { acted, actorOf } from '../audit/entry.ts'
import type { Caller } from '../access/caller.ts'
import type { Ports } from '../../engine/ports.ts'
import type { SealedRowRef } from '../secrets/vault-port.ts'

/** How long the previous secret also signs, so that receivers have time to change to the new one. */
const PREVIOUS_SECRET_MS = DAY_MS

type SigningPorts = Pick<Ports, 'database' | 'vault'>

/** A secret of 192 bits in the format of Standard Webhooks. */
const createSecretText = (): string => `whsec_${randomBytes(24).toString('base64')}`

const signingSecretRef = (orgId: OrgId): SealedRowRef => ({ orgId, kind: 'signing_secret', name: orgId })

/**
 * The stored form of a new secret. It stays in clear while a live node could not open it, such as a node of an earlier
 * release: every node signs, so every node must be able to read it.
 */
async function createStoredSecret({ vault }: SigningPorts, orgId: OrgId): Promise<StoredText> {
  const clear = createSecretText()
  return (await vault.isKeyOnAllNodes()) ? { sealed: await vault.seal(clear, signingSecretRef(orgId)) } : { clear }
}

const openSecretText = ({ vault }: SigningPorts, stored: StoredText, orgId: OrgId): Promise<string> =>
  'clear' in stored ? Promise.resolve(stored.clear) : vault.open(stored.sealed, signingSecretRef(orgId))

async function ensureSigningSecret(
  ports: SigningPorts,
  { orgId, now }: { orgId: OrgId; now: Instant },
): Promise<SigningSecret> {
  const existing = await loadSigningSecret(ports.database, orgId)
  if (existing !== undefined) return existing
  return insertSigningSecret(ports.database, { orgId, now, fresh: await createStoredSecret(ports, orgId) })
}

/** The secrets that sign webhooks of an org at a given time, newest first. */
export async function loadSigningTexts(
  ports: SigningPorts,
  query: { readonly orgId: OrgId; readonly now: Instant },
): Promise<readonly string[]> {
  const { secret, previous } = await ensureSigningSecret(ports, query)
  const signing = previous !== null && previous.until > query.now ? [secret, previous.secret] : [secret]
  return Promise.all(signing.map((stored) => openSecretText(ports, stored, query.orgId)))
}

/** The signing secret of the org. The first read or the first webhook creates it. */
export async function getSigningSecret(ports: Ports, { orgId }: Caller): Promise<SigningSecretView> {
  const now = ports.clock.now()
  const stored = await ensureSigningSecret(ports, { orgId, now })
  return viewSigningSecret(stored, await openSecretText(ports, stored.secret, orgId), now)
}

/** Creates a new signing secret. Both sign for one day, so that receivers can be changed one after the other. */
export async function rotateSecret(ports: Ports, caller: Caller): Promise<SigningSecretView> {
  const { orgId } = caller
  const fresh = await createStoredSecret(ports, orgId)
  const text = await openSecretText(ports, fresh, orgId)
  const overlapMs = (await isSecretLost(ports, orgId)) ? 0 : PREVIOUS_SECRET_MS
  return ports.commands.execute({
    orgId,
    prepare: async (tx, now) => {
      const stored = await rotateSigningSecret(tx, { orgId, fresh, now, previousUntil: later(now, overlapMs) })
      return viewSigningSecret(stored, text, now)
    },
    apply: (state, prepared) => {
      const view = prepared as SigningSecretView
      const object = { kind: 'signing_secret', id: orgId } as const
      const after = { previous_until: view.previous_until }
      state.changes.audits.push(acted(actorOf(caller), object, { verb: 'rotate', after }))
      return view
    },
  })
}

/** Whether the current secret cannot be opened, because its key is lost. It then cannot sign beside the new one. */
async function isSecretLost(ports: SigningPorts, orgId: OrgId): Promise<boolean> {
  const existing = await loadSigningSecret(ports.database, orgId)
  if (existing === undefined) return false
  try {
    await openSecretText(ports, existing.secret, orgId)
    return false
  } catch (error) {
    if (error instanceof Refusal) return true
    throw error
  }
}

const viewSigningSecret = (
  { orgId, createdAt, previous }: SigningSecret,
  secret: string,
  now: Instant,
): SigningSecretView => ({
  org_id: orgId,
  secret,
  created_at: formatInstant(createdAt),
  previous_until: previous === null || previous.until <= now ? null : formatInstant(previous.until),
})

const SEAL_BATCH_SIZE = 100

/** Seals the texts stored in clear, once every node can open them. Returns their number. */
export async function sealSigningSecrets(ports: SigningPorts): Promise<number> {
  const { database, vault } = ports
  let sealed = 0
  for (;;) {
    const rows = await loadClearSigningSecrets(database, SEAL_BATCH_SIZE)
    if (rows.length === 0 || !(await vault.isKeyOnAllNodes())) return sealed
    for (const { orgId, secret, previous } of rows)
      for (const [column, stored] of [['secret', secret] as const, ['previous', previous?.secret ?? null] as const])
        if (stored !== null && 'clear' in stored) {
          const text = { orgId, clear: stored.clear, sealed: await vault.seal(stored.clear, signingSecretRef(orgId)) }
          await sealSigningSecret(database, column, text)
          sealed += 1
        }
  }
}
