import path from 'node:path'
import type { Instant } from '../../domain/instant.ts'
import type { Database } from '../../store/database.ts'
import type { KeySource } from '../../features/secrets/keys.ts'
import type { Vault } from './vault-port.ts'
import { openVault } from './vault.ts'

/** The vault of a node, and which node that is: known once there is one. */
export interface NodeVault {
  readonly vault: Vault
  readonly self: { id: () => string }
}

/** Opens the vault of a node. Without a word about keys they are in a file beside the embedded database. */
export async function openNodeVault(with_: {
  readonly database: Database
  readonly now: () => Instant
  /** The directory of the embedded database; null: it is elsewhere. */
  readonly data: string | null
  readonly keys: Partial<KeySource>
}): Promise<NodeVault> {
  const { database, now, data, keys } = with_
  const self = { id: () => '' }
  const file = keys.file ?? (data === null ? null : path.join(data, 'secret.key'))
  const source = { environment: keys.environment ?? null, file }
  const vault = await openVault({ database, now, source, alone: data !== null, nodeId: () => self.id() })
  return { vault, self }
}
