import type { AuditVerb } from '../../domain/access/audit-words.ts'
import type { Page } from '../../api/page.ts'
import type { PageFilter } from '../../api/common.ts'
import { invalid, Refusal } from '../../api/refusals.ts'
import type { EnabledTargetView, TargetInput, TargetPatch, TargetView } from '../../features/targets/schema.ts'
import { storedQuietUntil } from '../../domain/delivery/quiet-hours.ts'
import { targetId, type OrgId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import { because, type Why } from '../../domain/reasons.ts'
import { loadOpenAlerts } from '../../features/alerts/store.ts'
import type { Connection, Transaction } from '../../store/database.ts'
import { reviewQuiet } from '../../store/digests.ts'
import {
  countHeld,
  deleteTarget,
  failDeliveries,
  holdDeliveries,
  insertTarget,
  letGoDeliveries,
  listTargets,
  loadSchedulesOfTarget,
  loadTargets,
  saveTarget,
  type TargetRow,
} from '../../store/targets.ts'
import { actorOf, changed, created, deleted } from '../../features/audit/entry.ts'
import type { Caller } from '../caller.ts'
import { pageOf, parseCursor, parseLimit } from '../../platform/db/cursor.ts'
import { endAlert } from '../desk/alerts.ts'
import type { Desk } from '../desk/desk.ts'
import { bound } from '../idempotent.ts'
import { collectFlaws } from '../../domain/input-fields.ts'
import type { Ports } from '../ports.ts'
import { TARGET_CHECKS } from './checks.ts'
import { keptAddress } from './address.ts'
import { decideTarget, type DecidedTarget } from './decided.ts'
import { settingsOf, viewTarget } from './view.ts'
import type { Work } from '../turn-port.ts'

const noTarget = (id: string): Refusal => new Refusal('NOT_FOUND', `There is no target ${id}`)

/** The target as it is on record, or a refusal. */
export async function readTarget(connection: Connection, orgId: OrgId, id: string): Promise<TargetRow> {
  // PostgreSQL takes no NUL in a text, and no id has one.
  const [row] = id.includes('\u0000') ? [] : await loadTargets(connection, { orgId, ids: [targetId(id)] })
  if (row === undefined) throw noTarget(id)
  return row
}

function decided(given: TargetInput | TargetPatch, existing: DecidedTarget | null): DecidedTarget {
  const read = decideTarget(given, existing)
  if (!read.ok) throw invalid(read.flaws)
  return read.value
}

async function refuseForbidden(ports: Ports, orgId: OrgId, read: DecidedTarget): Promise<void> {
  const flaws = await TARGET_CHECKS[read.kind](ports, orgId, read)
  if (flaws.length > 0) throw invalid(flaws)
}

/** Makes a target. Its address must be one that may be called. */
export const createTarget = async (ports: Ports, caller: Caller, input: TargetInput): Promise<TargetView> =>
  ports.turns.take(bound(await targetCreation(ports, caller, { input }), caller))

/** The work of making a target, judged as far as it can be before it is handed in. Its id is made unless given. */
export async function targetCreation(
  ports: Ports,
  caller: Caller,
  making: { readonly input: TargetInput; readonly id?: string | undefined },
): Promise<Work<TargetView>> {
  const { orgId } = caller
  const { enabled, ...read } = decided(making.input, null)
  await refuseForbidden(ports, orgId, { ...read, enabled })
  return {
    orgId,
    prepare: async (tx, now): Promise<TargetRow> => {
      const id = targetId(making.id ?? ports.newId('target', now))
      const row: TargetRow = {
        ...{ ...read, ...(await keptAddress(ports, { ...read, orgId, id })), orgId, id, failuresInARow: 0 },
        ...{ disabledAt: enabled ? null : now, disabledWhy: null, deliveredAt: null, failedAt: null },
        ...{ createdBy: caller.principal, createdAt: now, updatedAt: now },
      }
      await insertTarget(tx, row)
      return row
    },
    apply: (desk, prepared) => {
      const row = prepared as TargetRow
      desk.changes.audits.push(created(actorOf(caller), { kind: 'target', id: row.id }, settingsOf(row)))
      tell(desk, row.id, 'created')
      return viewTarget(row, 0)
    },
  }
}

/** The target, and how it has fared. */
export async function getTarget(
  { database }: Pick<Ports, 'database'>,
  caller: Caller,
  id: string,
): Promise<TargetView> {
  return withHeld(database, await readTarget(database, caller.orgId, id))
}

/** Whether messages may wait for it. */
const collects = ({ disabledAt, quietHours }: TargetRow): boolean => disabledAt !== null || quietHours !== null

async function withHeld(connection: Connection, row: TargetRow): Promise<TargetView> {
  const { orgId, id } = row
  const held = !collects(row) ? undefined : (await countHeld(connection, { orgId, ids: [id] })).get(id)
  return viewTarget(row, held ?? 0)
}

/** A page of the org's targets, newest first. */
export async function findTargets(
  { database }: Pick<Ports, 'database'>,
  { orgId }: Caller,
  filter: PageFilter = {},
): Promise<Page<TargetView>> {
  const { flaws, keep } = collectFlaws()
  const limit = keep(parseLimit('limit', filter.limit)) ?? 0
  const cursor = keep(parseCursor('cursor', filter.cursor))
  if (flaws.length > 0) throw invalid(flaws)
  const after = cursor === null ? null : { createdAt: cursor.createdAt, id: cursor.key }
  const rows = await listTargets(database, { orgId, after, limit: limit + 1 })
  const off = rows.filter(collects).map(({ id }) => id)
  const held = off.length === 0 ? new Map<string, number>() : await countHeld(database, { orgId, ids: off })
  return pageOf(rows, limit, {
    view: (row) => viewTarget(row, held.get(row.id) ?? 0),
    cursor: ({ createdAt, id }) => ({ createdAt, key: id }),
  })
}

interface AskedChange {
  readonly id: string
  readonly change: TargetPatch
}

/** Changes a target. Switching it off holds what is on its way; switching it on sends what was held. */
export async function changeTarget(ports: Ports, caller: Caller, asked: AskedChange): Promise<TargetView> {
  const { released: _released, ...view } = await ports.turns.take(await targetChange(ports, caller, asked))
  return view
}

/** The work of changing a target, judged as far as it can be before it is handed in. */
export async function targetChange(ports: Ports, caller: Caller, asked: AskedChange): Promise<Work<EnabledTargetView>> {
  const known = await readTarget(ports.database, caller.orgId, asked.id)
  const read = decided(asked.change, facts(known))
  if (isElsewhere(read, known)) await refuseForbidden(ports, caller.orgId, read)
  return editing(ports, caller, {
    id: asked.id,
    verb: 'update',
    read: (row) => decided(asked.change, facts(row)),
  })
}

/** Switches a target on: what was held for it is sent. */
export const enableTarget = (ports: Ports, caller: Caller, id: string): Promise<EnabledTargetView> =>
  ports.turns.take(editing(ports, caller, { id, verb: 'enable', read: (row) => ({ ...facts(row), enabled: true }) }))

/** What a person has decided about a target. */
const facts = ({ name, kind, url, settings, quietHours, alerts, disabledAt }: TargetRow): DecidedTarget => ({
  ...{ name, kind, url, settings, quietHours, alerts, enabled: disabledAt === null },
})

/** Whether messages will go elsewhere than they did. */
const isElsewhere = (read: DecidedTarget, known: TargetRow): boolean =>
  read.url !== known.url || JSON.stringify(read.settings) !== JSON.stringify(known.settings)

interface Editing {
  readonly id: string
  readonly verb: AuditVerb<'target'>
  readonly read: (row: TargetRow) => DecidedTarget
}

interface Edited {
  readonly before: TargetRow
  readonly after: TargetRow
  readonly view: EnabledTargetView
  /** Alerts that are over. */
  readonly over: readonly string[]
}

function editing(ports: Ports, caller: Caller, { id, verb, read }: Editing): Work<EnabledTargetView> {
  const { orgId } = caller
  return {
    orgId,
    prepare: async (tx, now): Promise<Edited> => {
      const before = await readTarget(tx, orgId, id)
      const { enabled, ...fields } = read(before)
      const address = fields.url === before.url ? {} : await keptAddress(ports, { ...before, ...fields })
      const after = { ...before, ...fields, ...address, ...standing(before, enabled, now), updatedAt: now }
      await saveTarget(tx, after)
      const { released, over } = await followUp(tx, { before, after, now })
      return { before, after, over, view: { ...(await withHeld(tx, after)), released } }
    },
    apply: (desk, prepared) => {
      const { before, after, view, over } = prepared as Edited
      const views = { before: settingsOf(before), after: settingsOf(after), verb }
      desk.changes.audits.push(changed(actorOf(caller), { kind: 'target', id: after.id }, views))
      tell(desk, after.id, view.released > 0 ? 'released' : 'updated')
      endDisabled(desk, after, { ids: over, why: because('target_enabled', 'target.enabled', { target: after.name }) })
      return view
    },
  }
}

function standing(
  before: TargetRow,
  enabled: boolean,
  now: Instant,
): Pick<TargetRow, 'disabledAt' | 'disabledWhy' | 'failuresInARow'> {
  const { disabledAt, disabledWhy, failuresInARow } = before
  if (enabled === (disabledAt === null)) return { disabledAt, disabledWhy, failuresInARow }
  return { disabledAt: enabled ? null : now, disabledWhy: null, failuresInARow: 0 }
}

async function followUp(
  tx: Transaction,
  { before, after, now }: { readonly before: TargetRow; readonly after: TargetRow; readonly now: Instant },
): Promise<{ readonly released: number; readonly over: readonly string[] }> {
  const { orgId, id } = after
  if (JSON.stringify(before.quietHours) !== JSON.stringify(after.quietHours))
    reviewQuiet(tx, { orgId, targetId: id, until: storedQuietUntil(after.quietHours, now) ?? now })
  const isOn = after.disabledAt === null
  if (isOn === (before.disabledAt === null)) return { released: 0, over: [] }
  if (!isOn) {
    holdDeliveries(tx, { orgId, ids: [id] })
    return { released: 0, over: [] }
  }
  const released = await letGoDeliveries(tx, { orgId, id, now, why: because('let_go', 'target.enabled') })
  return { released, over: await disabledAlerts(tx, after) }
}

async function disabledAlerts(tx: Transaction, { orgId, id }: TargetRow): Promise<readonly string[]> {
  const open = await loadOpenAlerts(tx, { orgId, kind: 'delivery_disabled', subjectId: id })
  return open.map((alert) => alert.id)
}

function endDisabled(
  desk: Desk,
  target: TargetRow,
  { ids, why }: { readonly ids: readonly string[]; readonly why: Why },
): void {
  const about = { subjectKind: 'target', subjectId: target.id, about: target.name } as const
  for (const id of ids) endAlert(desk, { id, kind: 'delivery_disabled', ...about, why })
}

interface Removed {
  readonly row: TargetRow
  readonly over: readonly string[]
  readonly why: Why
}

/** Schedules that are named when a target cannot go. */
const NAMED = 5

/** Deletes a target that no schedule delivers to. What was on its way to it has failed. */
export const removeTarget = async (ports: Ports, caller: Caller, asked: { readonly id: string }): Promise<void> =>
  ports.turns.take(targetRemoval(caller, asked))

/** The work of deleting a target. `isUnused`: whoever hands it in has seen to it that no schedule delivers to it then. */
export function targetRemoval(caller: Caller, asked: { readonly id: string; readonly isUnused?: true }): Work<void> {
  const { orgId } = caller
  return {
    orgId,
    prepare: async (tx, now) => {
      const row = await readTarget(tx, orgId, asked.id)
      const users = asked.isUnused === true ? [] : await loadSchedulesOfTarget(tx, { orgId, id: row.id, limit: NAMED })
      if (users.length > 0)
        throw new Refusal('CONFLICT', `Schedules deliver to ${row.id}: ${users.join(', ')}; change them first`, {
          details: { schedule_ids: users },
        })
      const why = because('target_gone', 'delivery.target', { target: row.name })
      await failDeliveries(tx, { orgId, id: row.id, now, why })
      const over = await disabledAlerts(tx, row)
      await deleteTarget(tx, { orgId, id: row.id })
      return { row, over, why }
    },
    apply: (desk, prepared) => {
      const { row, over, why } = prepared as Removed
      desk.changes.audits.push(deleted(actorOf(caller), { kind: 'target', id: row.id }, settingsOf(row)))
      tell(desk, row.id, 'deleted')
      endDisabled(desk, row, { ids: over, why })
    },
  }
}

function tell(desk: Desk, id: string, change: string): void {
  desk.changes.events.push({ kind: 'target.changed', subject: id, data: { change } })
}
