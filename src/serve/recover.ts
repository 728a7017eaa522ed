import path from 'node:path'
import { Refusal } from '../api/refusals.ts'
import type { RotationView } from '../features/secrets/schema.ts'
import { recoverFromLostKey } from '../service/secret/recovery.ts'
import { migrate } from '../platform/db/migrate.ts'
import type { Configuration } from './configuration.ts'
import { StartRefused } from './start-refused.ts'
import { withDatabase } from './with-database.ts'

/** What `escapement secrets recover` is told. */
export interface Recovering {
  readonly lostKeyId: string
  /** `ESCAPEMENT_SECRET_KEY`; null: the key is in the data directory. */
  readonly secretKey: string | null
}

/** Takes another key into use after the one that seals was lost. No server is needed: without that key none starts. */
export async function recoverSecrets(configuration: Configuration, told: Recovering): Promise<RotationView> {
  try {
    // Sealed texts are replaced beside the transaction that holds the lock.
    return await withDatabase(configuration, { name: 'recover', pool: 2 }, async ({ database, schema, data }) => {
      await migrate(database, { schema })
      const source = { environment: told.secretKey, file: path.join(data, 'secret.key') }
      return recoverFromLostKey({ database, source, lostKeyId: told.lostKeyId })
    })
  } catch (error) {
    throw error instanceof Refusal ? new StartRefused(error.message, { cause: error }) : error
  }
}
