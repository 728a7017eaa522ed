import type { NodeParts } from './node-parts.ts'
import type { Office } from './office-context.ts'

/** An org that was idle at two looks in a row, so far apart, is not remembered any more. */
const LOOK_EVERY_MS = 120_000

/** Forgets orgs in which nothing is pending and nothing has happened for minutes. They are loaded again when asked for. */
export function dropIdleOrgs(parts: NodeParts): void {
  const { looks } = parts.state
  const counter = parts.ctx.clock.counter()
  if (counter < looks.idleAt) return
  looks.idleAt = counter + LOOK_EVERY_MS
  const idle = new Map<Office['orgId'], number>()
  for (const office of parts.offices.values()) {
    if (!isEmpty(office)) continue
    const version = office.memory()?.version ?? 0
    if (looks.idle.get(office.orgId) === version) drop(parts, office)
    else idle.set(office.orgId, version)
  }
  looks.idle = idle
}

/** The node's lanes, executors or settings have changed: orgs with pending runs take them in, the others when loaded. */
export function refreshOrgs(parts: NodeParts): void {
  for (const office of parts.offices.values())
    if (isEmpty(office)) drop(parts, office)
    else office.refresh()
}

/** Nothing is pending, asked for or expected. */
function isEmpty(office: Office): boolean {
  return office.isIdle() && (office.memory()?.desk.runs.size ?? 0) === 0
}

function drop(parts: NodeParts, { orgId }: Office): void {
  parts.offices.delete(orgId)
  parts.ready.delete(orgId)
  parts.lanes.forget(orgId)
}
