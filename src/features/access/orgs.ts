import type { CreatedOrg, OrgInput, OrgPatch, OrgView } from './schema.ts'
import type { Page } from '../../api/page.ts'
import type { PageFilter } from '../../api/common.ts'
import { invalid, Refusal } from '../../api/refusals.ts'
import { OPERATOR_ORG, type Role } from '../../domain/access/access.ts'
import { periodBounds } from '../../domain/budget/budget-period.ts'
import { agentId, orgId as toOrgId, type OrgId } from '../../domain/ids.ts'
import { formatInstant, type Instant } from '../../domain/instant.ts'
import { parseZone } from '../../domain/time/zone.ts'
import { insertAgents, loadAgents } from '../agents/store.ts'
import { insertApiKey, type ApiKeyRow } from './keys-store.ts'
import type { Transaction } from '../../platform/db/database.ts'
import { insertOrg, listOrgsPage, loadOrg, markOrgDeleted, saveOrg, seedDailyRuns, type OrgRow } from './orgs-store.ts'
import { countSchedules } from '../schedules/store.ts'
import { actorOf, changed, created, deleted } from '../audit/entry.ts'
import type { Caller } from './caller.ts'
import { pageOf, parseCursor, parseLimit } from '../../platform/db/cursor.ts'
import { RUNS_PER_DAY } from '../../engine/commands/daily-runs.ts'
import { ECHO, echoAgent } from './first-start.ts'
import { bindToKey } from '../../engine/idempotency.ts'
import { collectFlaws } from '../../domain/input-fields.ts'
import { hashSecret, hintOf, newKeyText } from './key-text.ts'
import type { Ports } from '../../engine/ports.ts'
import type { Command } from '../../engine/commands-port.ts'

const orgNotFound = (id: string): Refusal => new Refusal('NOT_FOUND', `There is no org ${id}`)

/** The caller that creates an org, and the role of its first key. */
interface OrgCreator extends Caller {
  readonly role?: Role
}

/** Creates an org with the built-in echo agent. The creation is audited in the caller's org. */
export async function createOrg(ports: Ports, caller: OrgCreator, input: OrgInput): Promise<CreatedOrg> {
  const { name, id, default_timezone: zone, with_key: withKey = false } = input
  const text = newKeyText()
  const keyId = withKey ? ports.newId('key', ports.clock.now()) : null
  const command: Command<{ readonly view: OrgView; readonly keyId: string | null }> = {
    orgId: caller.orgId,
    prepare: async (tx, now): Promise<OrgRow> => {
      const row: OrgRow = {
        ...{ id: toOrgId(id ?? ports.newId('org', now)), name, defaultAgentId: ECHO, createdAt: now },
        defaultTimezone: zone ?? ports.settings().schedules.defaultTimezone,
        ...limitsOf(input, NO_LIMITS),
      }
      if (!(await insertOrg(tx, row)))
        throw new Refusal('CONFLICT', `The org ${row.id} already exists, or is still being deleted`)
      await insertAgents(tx, [echoAgent(row.id, now)])
      if (keyId !== null)
        await insertApiKey(tx, firstKey({ id: keyId, orgId: row.id, text, now, caller }), hashSecret(text))
      return row
    },
    apply: (state, prepared) => {
      const view = viewOrg(prepared as OrgRow)
      const after = keyId === null ? view : { ...view, first_key: keyId }
      state.changes.audits.push(created(actorOf(caller), { kind: 'org', id: view.id }, after))
      state.changes.events.push({ kind: 'org.changed', subject: view.id, data: { change: 'created' } })
      return { view, keyId }
    },
  }
  const result = await ports.commands.execute(bindToKey(command, caller))
  if (result.keyId === null) return result.view
  // A repeated request returns the first key, whose text is not stored.
  return { ...result.view, first_key: { id: result.keyId, key: result.keyId === keyId ? text : null } }
}

/** The first key of a new org. */
const firstKey = (of: {
  readonly id: string
  readonly orgId: OrgId
  readonly text: string
  readonly now: Instant
  readonly caller: OrgCreator
}): ApiKeyRow => ({
  ...{
    id: of.id,
    orgId: of.orgId,
    name: 'First key',
    hint: hintOf(of.text),
    role: of.caller.role ?? 'owner',
    scopes: null,
  },
  ...{ guardRails: null, origin: 'person', createdBy: of.caller.principal, createdAt: of.now },
  ...{ expiresAt: null, revokedAt: null, lastUsedAt: null },
})

const NO_LIMITS = { maxConcurrent: null, maxSchedules: null, runsPerDay: null, maxTimeoutSeconds: null }

type Limits = Pick<OrgRow, 'maxConcurrent' | 'maxSchedules' | 'runsPerDay' | 'maxTimeoutSeconds'>

/** The given limits, null included; the previous ones where none is given. */
function limitsOf(given: OrgPatch, before: Limits): Limits {
  const {
    max_concurrent: concurrent,
    max_schedules: schedules,
    runs_per_day: runs,
    max_timeout_seconds: timeout,
  } = given
  return {
    maxConcurrent: concurrent === undefined ? before.maxConcurrent : concurrent,
    maxSchedules: schedules === undefined ? before.maxSchedules : schedules,
    runsPerDay: runs === undefined ? before.runsPerDay : runs,
    maxTimeoutSeconds: timeout === undefined ? before.maxTimeoutSeconds : timeout,
  }
}

/** A page of the orgs of the deployment, newest first. */
export async function findOrgs(ports: Pick<Ports, 'database'>, filter: PageFilter = {}): Promise<Page<OrgView>> {
  const { flaws, keep } = collectFlaws()
  const limit = keep(parseLimit('limit', filter.limit)) ?? 0
  const cursor = keep(parseCursor('cursor', filter.cursor))
  if (flaws.length > 0) throw invalid(flaws)
  const after = cursor === null ? null : { createdAt: cursor.createdAt, id: cursor.key }
  const rows = await listOrgsPage(ports.database, { after, limit: limit + 1 })
  return pageOf(rows, limit, { view: viewOrg, cursor: ({ createdAt, id }) => ({ createdAt, key: id }) })
}

export async function getOrg(ports: Pick<Ports, 'database'>, id: string): Promise<OrgView> {
  const row = await loadOrg(ports.database, toOrgId(id))
  if (row === undefined) throw orgNotFound(id)
  return viewOrg(row)
}

/**
 * Updates an org. New limits apply from the next decision on; running attempts are not stopped. The change is audited
 * in that org.
 */
export async function updateOrg(
  ports: Ports,
  caller: Pick<Caller, 'principal'>,
  request: { readonly id: string; readonly change: OrgPatch },
): Promise<OrgView> {
  const { name, default_timezone: zone, default_agent_id: agent } = request.change
  const id = toOrgId(request.id)
  return ports.commands.execute({
    orgId: await requireOrg(ports, id),
    prepare: async (tx, now): Promise<readonly [OrgRow, OrgRow]> => {
      const found = await loadOrg(tx, id)
      if (found === undefined) throw orgNotFound(id)
      if (agent !== undefined && agent !== null) await refuseUnknownDefaultAgent(tx, id, agent)
      const row: OrgRow = {
        ...found,
        name: name ?? found.name,
        defaultTimezone: zone ?? found.defaultTimezone,
        defaultAgentId: agent === undefined ? found.defaultAgentId : agent === null ? null : agentId(agent),
        ...limitsOf(request.change, found),
      }
      await saveOrg(tx, row)
      await seedRunsPerDay(tx, { before: found, after: row, now })
      return [found, row]
    },
    apply: (state, prepared) => {
      const [before, after] = prepared as readonly [OrgRow, OrgRow]
      const views = { before: viewOrg(before), after: viewOrg(after) }
      state.changes.audits.push(changed(actorOf(caller), { kind: 'org', id }, views))
      state.changes.events.push({ kind: 'org.changed', subject: id, data: { change: 'updated' } })
      return views.after
    },
  })
}

/** Checked first, so that no actor is created for an org that does not exist. */
async function requireOrg(ports: Pick<Ports, 'database'>, id: OrgId): Promise<OrgId> {
  if ((await loadOrg(ports.database, id)) === undefined) throw orgNotFound(id)
  return id
}

async function refuseUnknownDefaultAgent(tx: Transaction, orgId: OrgId, id: string): Promise<void> {
  const [agent] = await loadAgents(tx, { orgId, ids: [agentId(id)] })
  if (agent === undefined)
    throw invalid([{ field: 'default_agent_id', value: id, message: 'is not an agent of the org' }])
}

/** A limit set in the middle of a day counts the runs of that day that are still stored. */
async function seedRunsPerDay(
  tx: Transaction,
  { before, after, now }: { readonly before: OrgRow; readonly after: OrgRow; readonly now: Instant },
): Promise<void> {
  const { runsPerDay: limit } = after
  const isSame = before.runsPerDay !== null && before.defaultTimezone === after.defaultTimezone
  const zone = parseZone('default_timezone', after.defaultTimezone)
  if (limit === null || isSame || !zone.ok) return
  const { start } = periodBounds('day', zone.value, now)
  await seedDailyRuns(tx, { orgId: after.id, id: RUNS_PER_DAY, start, limit })
}

/**
 * Deletes an org without pending runs or active schedules. From then on it is not found; its rows are deleted in small
 * steps, and its audit log stays.
 */
export async function deleteOrg(ports: Ports, caller: Pick<Caller, 'principal'>, id: string): Promise<void> {
  const gone = toOrgId(id)
  if (gone === OPERATOR_ORG)
    throw new Refusal('CONFLICT', `The org ${id} operates the deployment and cannot be deleted`)
  await ports.commands.execute({
    orgId: await requireOrg(ports, gone),
    prepare: async (tx) => {
      const found = await loadOrg(tx, gone)
      if (found === undefined) throw orgNotFound(id)
      const active = await countSchedules(tx, { orgId: gone, state: 'active' })
      if (active > 0)
        throw new Refusal('CONFLICT', `The org ${id} has ${active} active schedules; disable or delete them first`, {
          details: { active_schedules: active },
        })
      return found
    },
    apply: (state, prepared) => {
      const pending = state.runs.size + state.backlog.count
      if (pending > 0)
        throw new Refusal(
          'CONFLICT',
          `The org ${id} has ${pending} pending runs; cancel them, or wait until they end`,
          {
            details: { pending_runs: pending },
          },
        )
      state.changes.audits.push(deleted(actorOf(caller), { kind: 'org', id }, viewOrg(prepared as OrgRow)))
      state.changes.events.push({ kind: 'org.changed', subject: id, data: { change: 'deleted' } })
    },
    afterApply: (tx, _answer, now) => markOrgDeleted(tx, gone, now),
  })
}

/** An org as the API returns it. */
const viewOrg = (row: OrgRow): OrgView => ({
  id: row.id,
  name: row.name,
  default_timezone: row.defaultTimezone,
  default_agent_id: row.defaultAgentId,
  max_concurrent: row.maxConcurrent,
  max_schedules: row.maxSchedules,
  runs_per_day: row.runsPerDay,
  max_timeout_seconds: row.maxTimeoutSeconds,
  created_at: formatInstant(row.createdAt),
})
