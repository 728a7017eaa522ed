import type { Variables } from './environment.ts'
import { readLaneSizes, type LaneSizesResult, type LaneSizes } from '../../domain/queue/lanes.ts'

/** The environment variables of an embedding program. Only this file reads `process.env`. */
export interface Environment {
  readonly lanes: LaneSizesResult
  /** Null: not set. `DATABASE_URL` is never used, because it may be the database of an application. */
  readonly databaseUrl: string | null
  /** `ESCAPEMENT_SECRET_KEY`; null: not set. */
  readonly secretKey: string | null
}

/** Reads the variables of this process; lane sizes in them override `lanes`. */
export function readEnvironment(lanes: LaneSizes, variables = process.env): Environment {
  const url = variables['ESCAPEMENT_DATABASE_URL']?.trim() ?? ''
  const key = variables['ESCAPEMENT_SECRET_KEY']?.trim() ?? ''
  return {
    ...{ lanes: readLaneSizes(variables, lanes), databaseUrl: url === '' ? null : url },
    secretKey: key === '' ? null : key,
  }
}

/** The environment variables of a server. */
export interface ServerEnvironment {
  readonly variables: Variables
  /** `ESCAPEMENT_OWNER_KEY`: a secret, so it is not a setting and never shown. */
  readonly ownerKey: string | null
  /** `ESCAPEMENT_SECRET_KEY`: the encryption key of secrets, so it is not a setting either. */
  readonly secretKey: string | null
}

/** Reads the variables of a server. */
export function readServerEnvironment(variables: Variables = process.env): ServerEnvironment {
  const { ESCAPEMENT_OWNER_KEY: owner, ESCAPEMENT_SECRET_KEY: secret, ...others } = variables
  const trimmed = (text = ''): string | null => (text.trim() === '' ? null : text.trim())
  return { variables: others, ownerKey: trimmed(owner), secretKey: trimmed(secret) }
}

/** The environment variables of commands that call a server. */
export interface CommandEnvironment {
  readonly url: string | null
  readonly key: string | null
  readonly data: string | null
  /** False with `NO_COLOR`, or on a terminal without colors. */
  readonly colours: boolean
  /** The name of the user, for session keys. */
  readonly user: string
}

/** Reads the variables of commands; an empty variable counts as not set. */
export function readCommandEnvironment(variables: Variables = process.env): CommandEnvironment {
  const read = (name: string): string | null => {
    const text = variables[name]?.trim() ?? ''
    return text === '' ? null : text
  }
  return {
    ...{ url: read('ESCAPEMENT_URL'), key: read('ESCAPEMENT_KEY'), data: read('ESCAPEMENT_DATA') },
    colours: read('NO_COLOR') === null && read('TERM') !== 'dumb',
    user: read('USER') ?? read('LOGNAME') ?? read('USERNAME') ?? 'me',
  }
}
