import type { OrgId } from '../../domain/ids.ts'
import type { SealedKind } from '../../domain/secret/secret-names.ts'

/** The row a sealed text is bound to. The text cannot be opened for another row. */
export interface SealedRowRef {
  readonly orgId: OrgId
  /** Kind of the value, as in `SEALED_COLUMNS` of the store. */
  readonly kind: SealedKind
  /** Name of the row within the org. */
  readonly name: string
}

/** Encrypts values before they are stored. Failures are refusals with code `SECRET_KEY` that name the remedy. */
export interface Vault {
  /** Encrypts a text with the key of the deployment. The first call selects that key, and creates one if needed. */
  readonly seal: (text: string, rowRef: SealedRowRef) => Promise<string>
  /** Refuses if `seal` would refuse, without selecting or creating a key. */
  readonly check: () => Promise<void>
  readonly open: (sealed: string, rowRef: SealedRowRef) => Promise<string>
  /** Signs a text for one purpose with a key derived from the current one. Refuses as `seal` does. */
  readonly sign: (content: string, purpose: string) => Promise<string>
  /** Whether the text was signed for this purpose with any key of this node. */
  readonly isSigned: (content: string, proof: string, purpose: string) => Promise<boolean>
  /** Ids of the keys of this node. */
  readonly keyIds: () => readonly string[]
  /** Whether every live node has the sealing key. Only then are values sealed without a request of the user. */
  readonly isKeyOnAllNodes: () => Promise<boolean>
  /** Selects the key that seals from now on; the caller then seals everything again. */
  readonly selectKey: (options: { readonly makeNew: boolean }) => Promise<KeyChange>
}

/** The current key, and the previous one. */
export interface KeyChange {
  readonly keyId: string
  /** Null: unchanged. */
  readonly previousKeyId: string | null
}
