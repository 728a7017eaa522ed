import type { Handler } from '../executors/in-process/execute.ts'
import type { ServerLog } from '../log/server-log.ts'
import type { Configuration } from './configuration.ts'

/** What a server is started with. */
export interface ServerOptions {
  readonly configuration: Configuration
  readonly log: ServerLog
  /** `ESCAPEMENT_OWNER_KEY`. */
  readonly ownerKey: string | null
  /** `ESCAPEMENT_SECRET_KEY`; left out or null: the key is in `<data>/secret.key`. */
  readonly secretKey?: string | null | undefined
  readonly version: string
  /** Agents that are functions of this process, beside the one that answers with what it was given. */
  readonly agents?: Readonly<Record<string, Handler>> | undefined
}
