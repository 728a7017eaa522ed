import { timingSafeEqual } from 'node:crypto'
import type { Instant } from '../../domain/instant.ts'
import type { Database } from '../../store/database.ts'
import {
  ensureSealingKey,
  loadNodesWithout,
  loadSealingKey,
  replaceSealingKey,
  SEALING_KEY_LOCK,
} from '../../store/sealed.ts'
import { keyIdOf, openText, proofOf, sealText } from './sealing.ts'
import {
  createFirstKey,
  keyRefusal,
  makeKey,
  readKeys,
  type KeySource,
  type SecretKey,
} from '../../features/secrets/keys.ts'
import { Refusal } from '../../api/refusals.ts'
import type { KeyChange, SealedPlace, Vault } from './vault-port.ts'

/** What a vault is made of. */
export interface VaultContext {
  readonly database: Database
  readonly now: () => Instant
  readonly source: KeySource
  /** The node this is; empty before there is one. */
  readonly nodeId: () => string
  /** Whether the file of the key lies beside the only copy of the database, so that all nodes have it. */
  readonly alone: boolean
}

/** The keys of a node as it knows them. */
interface Ring {
  keys: readonly SecretKey[]
  /** The decision which key seals while it is being made, so that a hundred callers take one connection. */
  deciding: Promise<string> | null
}

interface Opened {
  readonly ctx: VaultContext
  readonly ring: Ring
}

/** Opens the vault. Refused when things are sealed with a key that this node does not have. */
export async function openVault(ctx: VaultContext): Promise<Vault> {
  const opened: Opened = { ctx, ring: { keys: await readKeys(ctx.source), deciding: null } }
  const inUse = await loadSealingKey(ctx.database)
  if (inUse !== null && findKey(opened.ring, inUse) === undefined) throw lacks(opened, inUse)
  return {
    keyIds: () => opened.ring.keys.map(({ id }) => id),
    seal: async (text, place) => sealText(text, place, await sealingKey(opened)),
    check: () => check(opened),
    open: (sealed, place) => open(opened, sealed, place),
    sign: async (said, purpose) => proofOf(said, purpose, await sealingKey(opened)),
    isSigned: (said, proof, purpose) => Promise.resolve(isProven(opened.ring, { said, proof, purpose })),
    isCommon: () => isCommon(opened),
    changeKey: (how) => changeKey(opened, how),
  }
}

/** Another key may have taken over since it was said. */
function isProven(
  { keys }: Ring,
  { said, proof, purpose }: { readonly said: string; readonly proof: string; readonly purpose: string },
): boolean {
  const given = Buffer.from(proof)
  return keys.some((key) => {
    const wanted = Buffer.from(proofOf(said, purpose, key))
    return wanted.length === given.length && timingSafeEqual(wanted, given)
  })
}

const findKey = ({ keys }: Ring, id: string): SecretKey | undefined => keys.find((key) => key.id === id)

/** The key by its id; another process of the same directory may have put it into the file since. */
async function needKey(opened: Opened, id: string): Promise<SecretKey> {
  const { ctx, ring } = opened
  if (findKey(ring, id) === undefined) ring.keys = await readKeys(ctx.source)
  const key = findKey(ring, id)
  if (key === undefined) throw lacks(opened, id)
  return key
}

function lacks({ ctx: { source }, ring }: Opened, id: string): Refusal {
  const has = ring.keys.length === 0 ? 'has no key' : `has ${ring.keys.map((key) => key.id).join(', ')}`
  const file = source.file === null ? 'secret.key' : source.file
  const where =
    source.environment !== null
      ? 'add that key to ESCAPEMENT_SECRET_KEY, which takes several with commas between them'
      : `give it that key as ESCAPEMENT_SECRET_KEY, or copy secret.key from the node that made it to ${file}`
  const lost = `if that key is lost: escapement secrets recover --lost-key ${id}`
  return keyRefusal(`Secrets in this database are sealed with key ${id}, and this node ${has}: ${where}; ${lost}`, {
    key_id: id,
  })
}

/** The key everybody seals with. The first who seals anything decides which one that is. */
async function sealingKey(opened: Opened): Promise<SecretKey> {
  const { ctx } = opened
  const inUse = await loadSealingKey(ctx.database)
  if (inUse !== null) return needKey(opened, inUse)
  opened.ring.deciding ??= decideKey(opened).finally(() => {
    opened.ring.deciding = null
  })
  return needKey(opened, await opened.ring.deciding)
}

async function check(opened: Opened): Promise<void> {
  const { database, source } = opened.ctx
  const inUse = await loadSealingKey(database)
  if (inUse !== null) await needKey(opened, inUse)
  else if (source.file === null && (await readKeys(source)).length === 0) throw noKey()
}

const noKey = (): Refusal =>
  keyRefusal('There is no key to seal secrets with: give one as ESCAPEMENT_SECRET_KEY (openssl rand -hex 32)')

/** Decides with which key to seal. The file is written before the row, so a row never names a key that is nowhere. */
const decideKey = (opened: Opened): Promise<string> =>
  opened.ctx.database.transaction(
    async (tx) => {
      const inUse = await loadSealingKey(tx)
      if (inUse !== null) return inUse
      const { id } = await ownKey(opened)
      return ensureSealingKey(tx, { id, at: opened.ctx.now() })
    },
    { lock: SEALING_KEY_LOCK },
  )

/** The first key of this node, made if it has none and there is a place for it. */
async function ownKey({ ctx: { source }, ring }: Opened): Promise<SecretKey> {
  const { file } = source
  const [known] = (ring.keys = await readKeys(source))
  if (known !== undefined) return known
  if (file === null) throw noKey()
  const made = await createFirstKey(file)
  const [first] = (ring.keys = made === null ? await readKeys(source) : [made])
  if (first === undefined) throw keyRefusal(`${file} was removed while the key was written; try again`)
  return first
}

async function open(opened: Opened, sealed: string, place: SealedPlace): Promise<string> {
  const id = keyIdOf(sealed)
  const text = id === null ? null : openText(sealed, place, await needKey(opened, id))
  if (text !== null) return text
  throw keyRefusal(`What is kept as ${place.kind} ${place.name} was changed in the database; set it again`)
}

async function isCommon(opened: Opened): Promise<boolean> {
  const { ctx, ring } = opened
  const { database, source, alone } = ctx
  const inUse = await loadSealingKey(database)
  // Nobody has decided on a key yet: one that would only be made here is one that other machines lack.
  if (inUse === null && !alone && source.environment === null) return false
  const id = inUse ?? ring.keys[0]?.id ?? null
  if (id !== null && findKey(ring, id) === undefined) return false
  return (await othersWithout(ctx, id ?? '')).length === 0
}

const othersWithout = ({ database, now, nodeId }: VaultContext, keyId: string): Promise<readonly string[]> =>
  loadNodesWithout(database, { keyId, now: now(), except: nodeId() })

async function changeKey(opened: Opened, { makeNew }: { readonly makeNew: boolean }): Promise<KeyChange> {
  const { ctx, ring } = opened
  const { database, source, alone } = ctx
  // Before anybody decides on a key: what is refused must not leave one behind.
  const file = makeNew ? placeForNew(source, alone) : null
  const inUse = (await sealingKey(opened)).id
  return database.transaction(
    async (tx) => {
      if (file !== null) await makeKey(file)
      ring.keys = await readKeys(source)
      const [wanted] = ring.keys
      if (wanted === undefined || wanted.id === inUse) return { keyId: inUse, previousKeyId: null }
      await needKey(opened, inUse)
      // Nodes of the same directory read the file when they come across a key they do not know.
      if (!alone) await refuseWithout(ctx, wanted.id)
      if (!(await replaceSealingKey(tx, { from: inUse, id: wanted.id, at: ctx.now() })))
        throw new Refusal('CONFLICT', 'Somebody else has changed the key in this moment; look again')
      return { keyId: wanted.id, previousKeyId: inUse }
    },
    { lock: SEALING_KEY_LOCK },
  )
}

async function refuseWithout(ctx: VaultContext, keyId: string): Promise<void> {
  const without = await othersWithout(ctx, keyId)
  if (without.length === 0) return
  throw new Refusal(
    'CONFLICT',
    `Nodes that are alive do not have key ${keyId} yet: ${without.join(', ')}; give it to them first and restart them`,
    { details: { key_id: keyId, nodes: without } },
  )
}

/** Where a new key is put before the others; refused where other nodes could not read it. */
function placeForNew({ environment, file }: KeySource, alone: boolean): string {
  if (environment !== null)
    throw new Refusal(
      'CONFLICT',
      'The key comes from ESCAPEMENT_SECRET_KEY: put a new one before it there (new,old), restart every node, and rotate without new_key',
    )
  if (file === null || !alone)
    throw new Refusal(
      'CONFLICT',
      'Other machines may share this database: put a new key on the first line of secret.key on every node, restart them, and rotate without new_key',
    )
  return file
}
