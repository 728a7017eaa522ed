import { ENGINE_KEYS } from '../platform/config/engine-keys.ts'
import { GROUP_SYNONYMS } from '../platform/config/synonyms.ts'
import { invalid } from '../api/refusals.ts'
import type { Flaw } from '../domain/input.ts'
import { nearestWord } from '../domain/nearest-word.ts'
import type { DatabaseChoice, EscapementOptions, Settings } from './escapement.ts'
import { requireFunction, requireObject } from './given.ts'

/** What can be set and changed while running. */
export const SETTINGS = Object.keys(ENGINE_KEYS) as readonly (keyof Settings)[]

/** Every option there is; the compiler holds the list complete. */
const OPTIONS: Readonly<Record<Exclude<keyof EscapementOptions, keyof Settings>, true>> = {
  ...{ database: true, agents: true, estimateTokens: true, outbound: true, heartbeat: true },
  ...{ secretKey: true, org: true, log: true },
}

const DATABASE = { data: true, url: true, schema: true, pool: true }

/** Refuses options that would be passed over or fail later; what settings hold is read where settings are read. */
export function requireOptions(options: EscapementOptions): void {
  requireObject('options', options, 'an object, or nothing')
  const flaws = unknownNames('', options, [...Object.keys(OPTIONS), ...SETTINGS])
  if (flaws.length > 0) throw invalid(flaws)
  const { agents, database, estimateTokens, log } = options
  if (agents !== undefined) requireAgents(agents)
  if (database !== undefined) requireDatabase(database)
  if (estimateTokens !== undefined) requireFunction('estimateTokens', estimateTokens)
  if (log !== undefined) requireFunction('log', log)
}

function requireAgents(agents: NonNullable<EscapementOptions['agents']>): void {
  requireObject('agents', agents, 'an object with a function for each agent, by its id')
  for (const [id, handler] of Object.entries(agents))
    requireFunction(`agents.${id}`, handler, '(run, context) => what comes out of it')
}

function requireDatabase(database: DatabaseChoice): void {
  if (typeof database === 'string') return
  requireObject('database', database, 'a URL (postgres://…), { url } or { data: a directory }')
  const flaws = unknownNames('database.', database, Object.keys(DATABASE))
  if (flaws.length > 0) throw invalid(flaws)
}

function unknownNames(prefix: string, given: object, known: readonly string[]): readonly Flaw[] {
  return Object.keys(given)
    .filter((name) => !known.includes(name))
    .map((name): Flaw => {
      const near = GROUP_SYNONYMS.get(name)?.group ?? nearestWord(name, known)
      const meant = near === null ? '' : `; did you mean ${near}?`
      const allowed = known.join(', ')
      return { field: `${prefix}${name}`, value: undefined, message: `is not a known option${meant}`, allowed }
    })
}
