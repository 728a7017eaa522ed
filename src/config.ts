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
