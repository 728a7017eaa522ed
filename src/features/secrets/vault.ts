import { timingSafeEqual } from 'node:crypto'
import path from 'node:path'
import { Refusal } from '../../api/refusals.ts'
import type { Instant } from '../../domain/instant.ts'
import { createFirstKey, keyRefusal, type KeySource, addKeyToFile, readKeys, type SecretKey } from './keys.ts'
import { keyIdOf, openText, signText, sealText } from './sealing.ts'
import {
  ensureSealingKey,
  loadLiveNodesWithoutKey,
  loadSealingKey,
  replaceSealingKey,
  SEALING_KEY_LOCK,
} from './store.ts'
import type { KeyChange, SealedRowRef, Vault } from './vault-port.ts'
import type { Database } from '../../platform/db/database.ts'

/** The dependencies of a vault. */
interface VaultContext {
  readonly database: Database
  readonly now: () => Instant
  readonly source: KeySource
  /** Id of this node. Empty before it has registered. */
  readonly nodeId: () => string
  /** Whether the key file is beside an embedded database, so that all processes of this database read the same file. */
  readonly isEmbedded: boolean
}

/** The keys of a node in memory. */
interface KeyRing {
  keys: readonly SecretKey[]
  /** The pending selection of the sealing key, shared so that concurrent callers use one connection. */
  selection: Promise<string> | null
}

interface VaultState {
  readonly ctx: VaultContext
  readonly ring: KeyRing
}

/** Opens the vault. Refuses if this node does not have the current sealing key. */
export async function openVault(ctx: VaultContext): Promise<Vault> {
  const state: VaultState = { ctx, ring: { keys: await readKeys(ctx.source), selection: null } }
  const inUse = await loadSealingKey(ctx.database)
  if (inUse !== null && findKey(state.ring, inUse) === undefined) throw missingKeyRefusal(state, inUse)
  return {
    keyIds: () => state.ring.keys.map(({ id }) => id),
    seal: async (text, rowRef) => sealText(text, rowRef, await currentSealingKey(state)),
    check: () => checkSealingKey(state),
    open: (sealed, rowRef) => openSealed(state, sealed, rowRef),
    sign: async (content, purpose) => signText(content, purpose, await currentSealingKey(state)),
    isSigned: (content, proof, purpose) =>
      Promise.resolve(isSignedByOwnKey(state.ring, { said: content, proof, purpose })),
    isKeyOnAllNodes: () => isKeyOnAllNodes(state),
    selectKey: (change) => switchSealingKey(state, change),
  }
}

/** Tries all keys, because the sealing key may have changed since the text was signed. */
function isSignedByOwnKey(
  { keys }: KeyRing,
  { said: content, proof, purpose }: { readonly said: string; readonly proof: string; readonly purpose: string },
): boolean {
  const signature = Buffer.from(proof)
  return keys.some((key) => {
    const candidate = Buffer.from(signText(content, purpose, key))
    return candidate.length === signature.length && timingSafeEqual(candidate, signature)
  })
}

const findKey = ({ keys }: KeyRing, id: string): SecretKey | undefined => keys.find((key) => key.id === id)

/** The key by its id. Reads the file again for an unknown id: another process of the directory may have added it. */
async function requireKey(state: VaultState, id: string): Promise<SecretKey> {
  const { ctx, ring } = state
  if (findKey(ring, id) === undefined) ring.keys = await readKeys(ctx.source)
  const key = findKey(ring, id)
  if (key === undefined) throw missingKeyRefusal(state, id)
  return key
}

function missingKeyRefusal({ ctx: { source }, ring }: VaultState, id: string): Refusal {
  const ownedText = ring.keys.length === 0 ? 'has no key' : `has ${ring.keys.map((key) => key.id).join(', ')}`
  const file = source.file === null ? 'secret.key' : source.file
  const where =
    source.environment !== null
      ? 'add that key to ESCAPEMENT_SECRET_KEY, which takes several keys separated by commas'
      : `give it that key as ESCAPEMENT_SECRET_KEY, or copy secret.key from the node that created it to ${file}`
  const lost = `if that key is lost: escapement secrets recover --lost-key ${id}`
  return keyRefusal(
    `Secrets in this database are encrypted with key ${id}, and this node ${ownedText}: ${where}; ${lost}`,
    {
      key_id: id,
    },
  )
}

/** The sealing key of the deployment. The first use selects it. */
async function currentSealingKey(state: VaultState): Promise<SecretKey> {
  const { ctx } = state
  const inUse = await loadSealingKey(ctx.database)
  if (inUse !== null) return requireKey(state, inUse)
  state.ring.selection ??= selectSealingKey(state).finally(() => {
    state.ring.selection = null
  })
  return requireKey(state, await state.ring.selection)
}

async function checkSealingKey(state: VaultState): Promise<void> {
  const { database, source } = state.ctx
  const inUse = await loadSealingKey(database)
  if (inUse !== null) await requireKey(state, inUse)
  else if (source.file === null && (await readKeys(source)).length === 0) throw noKeyRefusal()
}

const noKeyRefusal = (): Refusal =>
  keyRefusal('There is no key to encrypt secrets: set ESCAPEMENT_SECRET_KEY (create a key with: openssl rand -hex 32)')

/** Selects the sealing key. The file is written before the row, so that a row never names a missing key. */
const selectSealingKey = (state: VaultState): Promise<string> =>
  state.ctx.database.transaction(
    async (tx) => {
      const inUse = await loadSealingKey(tx)
      if (inUse !== null) return inUse
      const { id } = await firstOwnKey(state)
      return ensureSealingKey(tx, { id, at: state.ctx.now() })
    },
    { lock: SEALING_KEY_LOCK },
  )

/** The first key of this node, created if it has none and there is a key file. */
async function firstOwnKey({ ctx: { source }, ring }: VaultState): Promise<SecretKey> {
  const { file } = source
  const [known] = (ring.keys = await readKeys(source))
  if (known !== undefined) return known
  if (file === null) throw noKeyRefusal()
  const created = await createFirstKey(file)
  const [first] = (ring.keys = created === null ? await readKeys(source) : [created])
  if (first === undefined) throw keyRefusal(`${file} was removed while the key was written; try again`)
  return first
}

async function openSealed(state: VaultState, sealed: string, rowRef: SealedRowRef): Promise<string> {
  const id = keyIdOf(sealed)
  const text = id === null ? null : openText(sealed, rowRef, await requireKey(state, id))
  if (text !== null) return text
  throw keyRefusal(
    `The stored ${rowRef.kind} ${rowRef.name} was changed in the database and cannot be decrypted; set it again`,
  )
}

async function isKeyOnAllNodes(state: VaultState): Promise<boolean> {
  const { ctx, ring } = state
  const { database, source, isEmbedded } = ctx
  const inUse = await loadSealingKey(database)
  // No key is selected yet, and a key created on this machine would be missing on the others.
  if (inUse === null && !isEmbedded && source.environment === null) return false
  const id = inUse ?? ring.keys[0]?.id ?? null
  if (id !== null && findKey(ring, id) === undefined) return false
  return (await otherNodesWithoutKey(ctx, id ?? '')).length === 0
}

const otherNodesWithoutKey = ({ database, now, nodeId }: VaultContext, keyId: string): Promise<readonly string[]> =>
  loadLiveNodesWithoutKey(database, { keyId, now: now(), except: nodeId() })

async function switchSealingKey(state: VaultState, { makeNew }: { readonly makeNew: boolean }): Promise<KeyChange> {
  const { ctx, ring } = state
  const { database, source, isEmbedded } = ctx
  // First, because a refused call must not select a key.
  const file = makeNew ? fileForNewKey(source, isEmbedded) : null
  const inUse = (await currentSealingKey(state)).id
  return database.transaction(
    async (tx) => {
      if (file !== null) await addKeyToFile(file)
      ring.keys = await readKeys(source)
      const [candidate] = ring.keys
      if (candidate === undefined || candidate.id === inUse) return { keyId: inUse, previousKeyId: null }
      await requireKey(state, inUse)
      // Processes of the same directory read the file again when they meet an unknown key.
      if (!isEmbedded) await refuseKeyMissingOnNodes(ctx, candidate.id)
      if (!(await replaceSealingKey(tx, { from: inUse, id: candidate.id, at: ctx.now() })))
        throw new Refusal('CONFLICT', 'Another process changed the key at the same time; try again')
      return { keyId: candidate.id, previousKeyId: inUse }
    },
    { lock: SEALING_KEY_LOCK },
  )
}

async function refuseKeyMissingOnNodes(ctx: VaultContext, keyId: string): Promise<void> {
  const lackingNodes = await otherNodesWithoutKey(ctx, keyId)
  if (lackingNodes.length === 0) return
  throw new Refusal(
    'CONFLICT',
    `Running nodes do not have key ${keyId} yet: ${lackingNodes.join(', ')}; add it to them and restart them first`,
    { details: { key_id: keyId, nodes: lackingNodes } },
  )
}

/** The file for a new key. Refuses if other nodes could not read it. */
function fileForNewKey({ environment, file }: KeySource, isEmbedded: boolean): string {
  if (environment !== null)
    throw new Refusal(
      'CONFLICT',
      'The key comes from ESCAPEMENT_SECRET_KEY: put a new one before it there (new,old), restart every node, and rotate without new_key',
    )
  if (file === null || !isEmbedded)
    throw new Refusal(
      'CONFLICT',
      'Other machines may share this database: put a new key on the first line of secret.key on every node, restart them, and rotate without new_key',
    )
  return file
}

/** The vault of a node. `self.id` is set once the node has registered. */
export interface NodeVault {
  readonly vault: Vault
  readonly self: { id: () => string }
}

/** Opens the vault of a node. By default the keys are in a file beside the embedded database. */
export async function openNodeVault(options: {
  readonly database: Database
  readonly now: () => Instant
  /** Directory of the embedded database. Null: the database is external. */
  readonly data: string | null
  readonly keys: Partial<KeySource>
}): Promise<NodeVault> {
  const { database, now, data, keys } = options
  const self = { id: () => '' }
  const file = keys.file ?? (data === null ? null : path.join(data, 'secret.key'))
  const source = { environment: keys.environment ?? null, file }
  const vault = await openVault({ database, now, source, isEmbedded: data !== null, nodeId: () => self.id() })
  return { vault, self }
}
