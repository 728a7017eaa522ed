import { OPERATOR_ORG, type Principal } from '../domain/access/access.ts'
import type { OrgId } from '../domain/ids.ts'
import type { Ports } from '../service/ports.ts'
import type { HttpContext } from './context.ts'

type Queries = Ports['database']

/** So many orgs are remembered; one that is forgotten begins with nothing under way. */
const MAX_ORGS = 10_000

/** The context in which a request of a principal is answered. */
export type ContextOf = (principal: Principal | null) => HttpContext

/**
 * Where there are several orgs, the requests of one of them hold so many of the node's connections at most. The others of
 * its statements wait for each other, so that a flood of one org keeps no request of another waiting.
 */
export function createContexts(ctx: HttpContext): ContextOf {
  const known = new Map<OrgId, HttpContext>()
  const { database } = ctx.ports
  return (principal) => {
    if (principal === null || principal.orgId === OPERATOR_ORG || !ctx.hasManyOrgs()) return ctx
    const found = known.get(principal.orgId)
    if (found !== undefined) return found
    const made = { ...ctx, ports: { ...ctx.ports, database: limitQueries(database, ctx.queriesPerOrg) } }
    const [first] = known.keys()
    if (known.size >= MAX_ORGS && first !== undefined) known.delete(first)
    known.set(principal.orgId, made)
    return made
  }
}

/** The same database, of which so many single statements are carried out at a time, in the order of asking. */
export function limitQueries(database: Queries, most: number): Queries {
  let underWay = 0
  const waiting: (() => void)[] = []
  const release = (): void => {
    const next = waiting.shift()
    if (next === undefined) underWay -= 1
    // The place goes on to the next one.
    else next()
  }
  const query: Queries['query'] = (text, params) => database.query(text, params).finally(release)
  return {
    query: (text, params) => {
      if (underWay >= most) return new Promise<void>((resolve) => waiting.push(resolve)).then(() => query(text, params))
      underWay += 1
      return query(text, params)
    },
  }
}
