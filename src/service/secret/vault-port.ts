import type { OrgId } from '../../domain/ids.ts'
import type { SealedKind } from '../../core/secret/sealed-kinds.ts'

/** Where a sealed text belongs. It is part of what is sealed: elsewhere the text cannot be opened. */
export interface SealedPlace {
  readonly orgId: OrgId
  /** What it is, as `SEALED_COLUMNS` of the store has it. */
  readonly kind: SealedKind
  /** The name of its row inside the org. */
  readonly name: string
}

/** Keeps values that nobody may read in the tables. What it cannot do it refuses with `SECRET_KEY`, saying what to do. */
export interface Vault {
  /** Seals a text with the key of the deployment. The first time, that key is taken into use, and made if there is none. */
  readonly seal: (text: string, place: SealedPlace) => Promise<string>
  /** Refuses where sealing would be refused. Takes no key into use and makes none. */
  readonly check: () => Promise<void>
  readonly open: (sealed: string, place: SealedPlace) => Promise<string>
  /** Proves that we have said something, for one purpose, with the key that seals. Refused as sealing is. */
  readonly sign: (said: string, purpose: string) => Promise<string>
  /** Whether that was proven with a key this node has. */
  readonly isSigned: (said: string, proof: string, purpose: string) => Promise<boolean>
  /** The keys this node has, by their ids. */
  readonly keyIds: () => readonly string[]
  /**
   * Whether every node can open what is sealed now, and nobody would be surprised by it: then also what nobody asked to be
   * sealed is.
   */
  readonly isCommon: () => Promise<boolean>
  /** Says with which key to seal from now on, for whoever has everything sealed anew. */
  readonly changeKey: (how: { readonly makeNew: boolean }) => Promise<KeyChange>
}

/** Which key seals, and which one did before. */
export interface KeyChange {
  readonly keyId: string
  /** Null: it is the same one. */
  readonly previousKeyId: string | null
}
