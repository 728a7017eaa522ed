import type { Variables } from './environment.ts'
import { readLaneSizes, type LaneReading, type LaneSizes } from '../../domain/queue/lanes.ts'

/** What the environment says. This file is the only one that reads it. */
export interface Environment {
  readonly lanes: LaneReading
  /** Null: nobody has chosen a database; `DATABASE_URL` is never taken, it may be somebody's application. */
  readonly databaseUrl: string | null
  /** `ESCAPEMENT_SECRET_KEY`; null: nothing. */
  readonly secretKey: string | null
}

/** Reads the variables of this process; sizes of lanes stand above `lanes`. */
export function readEnvironment(lanes: LaneSizes, variables = process.env): Environment {
  const url = variables['ESCAPEMENT_DATABASE_URL']?.trim() ?? ''
  const key = variables['ESCAPEMENT_SECRET_KEY']?.trim() ?? ''
  return {
    ...{ lanes: readLaneSizes(variables, lanes), databaseUrl: url === '' ? null : url },
    secretKey: key === '' ? null : key,
  }
}

/** The variables of this process that are about a server. */
export interface ServerEnvironment {
  readonly variables: Variables
  /** `ESCAPEMENT_OWNER_KEY`: a secret, so it is no setting and is shown nowhere. */
  readonly ownerKey: string | null
  /** `ESCAPEMENT_SECRET_KEY`: what secrets are sealed with, no setting either. */
  readonly secretKey: string | null
}

/** Reads them, once: they do not change while the process lives. */
export function readServerEnvironment(variables: Variables = process.env): ServerEnvironment {
  const { ESCAPEMENT_OWNER_KEY: owner, ESCAPEMENT_SECRET_KEY: secret, ...others } = variables
  const said = (text = ''): string | null => (text.trim() === '' ? null : text.trim())
  return { variables: others, ownerKey: said(owner), secretKey: said(secret) }
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
