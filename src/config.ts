import type { Variables } from './config/environment.ts'
import { readLaneSizes, type LaneReading, type LaneSizes } from './core/lanes.ts'

/** What the environment says. This file is the only one that reads it. */
export interface Environment {
  readonly lanes: LaneReading
  /** Null: nobody has chosen a database; `DATABASE_URL` is never taken, it may be somebody's application. */
  readonly databaseUrl: string | null
}

/** Reads the variables of this process; sizes of lanes stand above `lanes`. */
export function readEnvironment(lanes: LaneSizes, variables = process.env): Environment {
  const url = variables['ESCAPEMENT_DATABASE_URL']?.trim() ?? ''
  return { lanes: readLaneSizes(variables, lanes), databaseUrl: url === '' ? null : url }
}

/** The variables of this process that are about a server. */
export interface ServerEnvironment {
  readonly variables: Variables
  /** `ESCAPEMENT_OWNER_KEY`: a secret, so it is no setting and is shown nowhere. */
  readonly ownerKey: string | null
}

/** Reads them, once: they do not change while the process lives. */
export function readServerEnvironment(variables: Variables = process.env): ServerEnvironment {
  const { ESCAPEMENT_OWNER_KEY: key, ...others } = variables
  return { variables: others, ownerKey: (key ?? '').trim() === '' ? null : (key ?? '').trim() }
}

/** What the environment says to commands that talk to a server. */
export interface CommandEnvironment {
  readonly url: string | null
  readonly key: string | null
  readonly data: string | null
  /** Nobody has asked for output without colours (`NO_COLOR`, or a terminal that knows none). */
  readonly colours: boolean
  /** Who sits there, for the key of a conversation. */
  readonly user: string
}

/** Reads what commands need; an empty variable says nothing. */
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
