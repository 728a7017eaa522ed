import type { Page } from '../api/page.ts'
import { invalid, Refusal } from '../api/refusals.ts'
import type { SessionChange, SessionFilter, SessionPatch, SessionView } from '../features/sessions/schema.ts'
import { sessionKey, type OrgId } from '../domain/ids.ts'
import { formatInstant } from '../domain/instant.ts'
import type { SessionRules } from '../core/session/session-rules.ts'
import { countSessionWork, listSessions, loadSessions, type SessionCounts, type SessionRow } from '../store/sessions.ts'
import { actorOf, changed } from '../features/audit/entry.ts'
import type { Caller } from './caller.ts'
import { pageOf, parseCursor, parseLimit } from '../platform/db/cursor.ts'
import { collectFlaws } from '../domain/input-fields.ts'
import { readSessionKey } from './messages.ts'
import type { Ports } from './ports.ts'
import { sessionFor } from './turn/turn.ts'

type Reading = Pick<Ports, 'database' | 'settings'>

const NOTHING: SessionCounts = { active: 0, waiting: 0 }

/** A session as every surface shows it: its own rules, and the deployment's where it has none. */
function viewSession(row: SessionRow, deployment: SessionRules, counts: SessionCounts = NOTHING): SessionView {
  const rules = { ...deployment, ...row.own }
  return {
    key: row.key,
    org_id: row.orgId,
    mode: rules.mode,
    cap: rules.cap,
    drop: rules.drop,
    debounce_ms: rules.debounceMs,
    max_concurrent: rules.maxConcurrent,
    generation: row.generation,
    tokens: row.context?.tokens ?? null,
    context_window: row.context?.contextWindow ?? null,
    active: counts.active,
    waiting: counts.waiting,
    created_at: formatInstant(row.createdAt),
  }
}

/** The session and how much of its work is pending. */
export async function getSession(ports: Reading, orgId: OrgId, text: string): Promise<SessionView> {
  const key = readSessionKey(text)
  const [row] = await loadSessions(ports.database, { orgId, keys: [key] })
  if (row === undefined) throw new Refusal('NOT_FOUND', `There is no session ${text}`)
  const counts = await countSessionWork(ports.database, { orgId, keys: [key] })
  return viewSession(row, ports.settings().sessions, counts.get(key))
}

/** A page of the org's sessions, newest first. */
export async function findSessions(
  ports: Reading,
  orgId: OrgId,
  filter: SessionFilter = {},
): Promise<Page<SessionView>> {
  const { flaws, keep } = collectFlaws()
  const limit = keep(parseLimit('limit', filter.limit)) ?? 0
  const cursor = keep(parseCursor('cursor', filter.cursor))
  if (flaws.length > 0) throw invalid(flaws)
  const after = cursor === null ? null : { createdAt: cursor.createdAt, key: sessionKey(cursor.key) }
  const rows = await listSessions(ports.database, {
    orgId,
    after,
    limit: limit + 1,
    withRuns: filter.isolated === true,
  })
  const counts = await countSessionWork(ports.database, { orgId, keys: rows.map((row) => row.key) })
  const deployment = ports.settings().sessions
  return pageOf(rows, limit, {
    view: (row) => viewSession(row, deployment, counts.get(row.key)),
    cursor: ({ createdAt, key }) => ({ createdAt, key }),
  })
}

/**
 * Sets rules of a session, which begins with it if need be: a group may be given its limits before anybody speaks. Null
 * gives a rule back to the deployment.
 */
export async function changeSession(
  ports: Ports,
  caller: Caller & { readonly key: string },
  change: SessionChange,
): Promise<SessionView> {
  const { orgId, key: text } = caller
  const key = readSessionKey(text)
  await ports.turns.take({
    orgId,
    needs: { sessions: [key] },
    apply: (desk) => {
      sessionFor({ desk }, key)
      const session = desk.sessions.get(key)
      if (session === undefined) throw new Error(`session ${key} is not on the desk`)
      const deployment = ports.settings().sessions
      const before = rulesIn(viewSession(session, deployment))
      session.own = ownRules(session.own, change)
      desk.changes.sessions.add(session)
      const after = rulesIn(viewSession(session, deployment))
      desk.changes.audits.push(changed(actorOf(caller), { kind: 'session', id: key }, { before, after }))
    },
  })
  return getSession(ports, orgId, text)
}

const rulesIn = (view: SessionView): Required<SessionPatch> => {
  const { mode, cap, drop, debounce_ms, max_concurrent } = view
  return { mode, cap, drop, debounce_ms, max_concurrent }
}

const NAMES = {
  mode: 'mode',
  cap: 'cap',
  drop: 'drop',
  debounce_ms: 'debounceMs',
  max_concurrent: 'maxConcurrent',
} as const satisfies Readonly<Record<keyof SessionPatch, keyof SessionRules>>

function ownRules(own: Partial<SessionRules>, change: SessionChange): Partial<SessionRules> {
  const edited: Record<string, unknown> = { ...own }
  for (const [name, rule] of Object.entries(NAMES)) {
    const value = change[name as keyof typeof NAMES]
    if (value === null) Reflect.deleteProperty(edited, rule)
    else if (value !== undefined) edited[rule] = value
  }
  return edited
}
