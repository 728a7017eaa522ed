import type { PageFilter } from '../../api/common.ts'
import type { Page } from '../../api/page.ts'
import { invalid, Refusal } from '../../api/refusals.ts'
import type { AuditVerb } from '../../domain/access/audit-words.ts'
import type { ChannelKind } from '../../domain/channel/channel.ts'
import { storedQuietUntil } from '../../domain/delivery/quiet-hours.ts'
import { visibleSettings, visibleUrl, type TargetKind } from '../../domain/delivery/target-kinds.ts'
import { type OrgId, targetId } from '../../domain/ids.ts'
import { collectFlaws } from '../../domain/input-fields.ts'
import type { Flaw } from '../../domain/input.ts'
import { formatInstant, type Instant } from '../../domain/instant.ts'
import { because, type Why } from '../../domain/reasons.ts'
import type { Command } from '../../engine/commands-port.ts'
import { endAlert } from '../../engine/commands/alerts.ts'
import { bindToKey } from '../../engine/idempotency.ts'
import type { OrgState } from '../../engine/org-state/org-state.ts'
import type { Ports } from '../../engine/ports.ts'
import type { Caller } from '../access/caller.ts'
import { loadOpenAlerts } from '../alerts/store.ts'
import { actorOf, changed, created, deleted } from '../audit/entry.ts'
import { loadChannelNamed } from '../channels/store.ts'
import { rescheduleHeld } from '../deliveries/store.ts'
import { formatInstantOrNull } from '../schedules/view.ts'
import { type TargetConfig, resolveTargetConfig, storedUrlOf } from './address.ts'
import type { EnabledTargetView, TargetInput, TargetPatch, TargetView } from './schema.ts'
import {
  countHeldMessages,
  deleteTargetRow,
  failDeliveries,
  holdDeliveries,
  insertTarget,
  releaseHeldDeliveries,
  listTargets,
  loadSchedulesOfTarget,
  loadTargets,
  updateTargetRow,
  type TargetRow,
} from './store.ts'
import { pageOf, parseCursor, parseLimit } from '../../platform/db/cursor.ts'
import type { Connection, Transaction } from '../../platform/db/database.ts'

/** A check that needs the network or the database. It runs before anything is stored. */
type TargetCheck = (ports: Ports, orgId: OrgId, read: TargetConfig) => Promise<readonly Flaw[]>

/** The checks of each kind. */
const TARGET_CHECKS: { readonly [Kind in TargetKind]: TargetCheck } = {
  webhook: async ({ outbound }, _orgId, { url }) => {
    const urlError = await outbound.check(url, 'webhook')
    return urlError === null ? [] : [{ field: 'url', value: url, message: urlError }]
  },
  email: ({ outbound }) => {
    const urlError = outbound.mailFlaw?.() ?? null
    return Promise.resolve(urlError === null ? [] : [{ field: 'kind', value: 'email', message: urlError }])
  },
  slack: slackFlaws,
  telegram: (ports, orgId, { settings }) => targetChannelFlaws(ports, orgId, { settings, kind: 'telegram' }),
  // The first message creates the session, so it does not have to exist.
  session: () => Promise.resolve([]),
}

const SLACK_DESTINATIONS = 'either url (an incoming webhook) or settings {channel, to}'

async function slackFlaws(ports: Ports, orgId: OrgId, { url, settings }: TargetConfig): Promise<readonly Flaw[]> {
  const usesChannel = settings['channel'] !== undefined
  if (url !== '' && usesChannel)
    return [{ field: 'settings', value: settings, message: 'cannot be combined with url', allowed: SLACK_DESTINATIONS }]
  if (usesChannel) return targetChannelFlaws(ports, orgId, { settings, kind: 'slack' })
  if (url === '') return [{ field: 'url', value: undefined, message: 'is missing', allowed: SLACK_DESTINATIONS }]
  const urlError = await ports.outbound.check(url, 'webhook')
  return urlError === null ? [] : [{ field: 'url', value: '***', message: urlError }]
}

async function targetChannelFlaws(
  { database }: Pick<Ports, 'database'>,
  orgId: OrgId,
  { settings, kind }: { readonly settings: TargetConfig['settings']; readonly kind: ChannelKind },
): Promise<readonly Flaw[]> {
  const value = settings['channel']
  const found = typeof value === 'string' ? await loadChannelNamed(database, { orgId, name: value }) : undefined
  const field = 'settings.channel'
  if (found === undefined) return [{ field, value, message: 'is not a channel of the org' }]
  return found.kind === kind
    ? []
    : [{ field, value, message: `is a channel of kind ${found.kind}`, allowed: `a channel of kind ${kind}` }]
}

/** A target in the form of the API. */
const viewTarget = (row: TargetRow, held: number): TargetView => ({
  id: row.id,
  org_id: row.orgId,
  name: row.name,
  kind: row.kind,
  url: row.url === '' ? null : visibleUrl(row.kind, row.url),
  settings: visibleSettings(row.kind, row.settings),
  quiet_hours: row.quietHours,
  alerts: row.alerts,
  enabled: row.disabledAt === null,
  disabled_at: formatInstantOrNull(row.disabledAt),
  disabled_why: row.disabledWhy,
  failures_in_a_row: row.failuresInARow,
  held,
  last_delivered_at: formatInstantOrNull(row.deliveredAt),
  last_failed_at: formatInstantOrNull(row.failedAt),
  created_by: row.createdBy,
  created_at: formatInstant(row.createdAt),
  updated_at: formatInstant(row.updatedAt),
})

/** The settings of a target for the audit log. */
const targetAuditView = ({ name, kind, url, disabledAt, settings, quietHours, alerts }: TargetRow): object => ({
  ...{ name, kind, ...(url === '' ? {} : { url: hideQuery(visibleUrl(kind, url)) }), enabled: disabledAt === null },
  ...(Object.keys(settings).length === 0 ? {} : { settings: visibleSettings(kind, settings) }),
  ...{ quiet_hours: quietHours, alerts },
})

/** Hides the query, because it often contains keys and audit entries are kept forever. */
function hideQuery(url: string): string {
  const at = url.indexOf('?')
  return at === -1 ? url : `${url.slice(0, at)}?***`
}

const targetNotFound = (id: string): Refusal => new Refusal('NOT_FOUND', `There is no target ${id}`)

/** The stored target, or a refusal. */
export async function loadRequestedTarget(connection: Connection, orgId: OrgId, id: string): Promise<TargetRow> {
  // PostgreSQL rejects NUL in a text, and no id contains one.
  const [row] = id.includes('\u0000') ? [] : await loadTargets(connection, { orgId, ids: [targetId(id)] })
  if (row === undefined) throw targetNotFound(id)
  return row
}

function targetConfigFrom(given: TargetInput | TargetPatch, existing: TargetConfig | null): TargetConfig {
  const read = resolveTargetConfig(given, existing)
  if (!read.ok) throw invalid(read.flaws)
  return read.value
}

async function refuseFlawedTarget(ports: Ports, orgId: OrgId, read: TargetConfig): Promise<void> {
  const flaws = await TARGET_CHECKS[read.kind](ports, orgId, read)
  if (flaws.length > 0) throw invalid(flaws)
}

/** Creates a target. The outbound guard must allow its URL. */
export const createTarget = async (ports: Ports, caller: Caller, input: TargetInput): Promise<TargetView> =>
  ports.commands.execute(bindToKey(await createTargetCommand(ports, caller, { input }), caller))

/** The command that creates a target, validated before it is executed. Generates an id unless one is given. */
export async function createTargetCommand(
  ports: Ports,
  caller: Caller,
  creation: { readonly input: TargetInput; readonly id?: string | undefined },
): Promise<Command<TargetView>> {
  const { orgId } = caller
  const { enabled, ...read } = targetConfigFrom(creation.input, null)
  await refuseFlawedTarget(ports, orgId, { ...read, enabled })
  return {
    orgId,
    prepare: async (tx, now): Promise<TargetRow> => {
      const id = targetId(creation.id ?? ports.newId('target', now))
      const row: TargetRow = {
        ...{ ...read, ...(await storedUrlOf(ports, { ...read, orgId, id })), orgId, id, failuresInARow: 0 },
        ...{ disabledAt: enabled ? null : now, disabledWhy: null, deliveredAt: null, failedAt: null },
        ...{ createdBy: caller.principal, createdAt: now, updatedAt: now },
      }
      await insertTarget(tx, row)
      return row
    },
    apply: (state, prepared) => {
      const row = prepared as TargetRow
      state.changes.audits.push(created(actorOf(caller), { kind: 'target', id: row.id }, targetAuditView(row)))
      emitTargetChange(state, row.id, 'created')
      return viewTarget(row, 0)
    },
  }
}

/** The target and its delivery state. */
export async function getTarget(
  { database }: Pick<Ports, 'database'>,
  caller: Caller,
  id: string,
): Promise<TargetView> {
  return viewWithHeld(database, await loadRequestedTarget(database, caller.orgId, id))
}

/** Whether messages may be held for it. */
const mayHoldMessages = ({ disabledAt, quietHours }: TargetRow): boolean => disabledAt !== null || quietHours !== null

async function viewWithHeld(connection: Connection, row: TargetRow): Promise<TargetView> {
  const { orgId, id } = row
  const held = !mayHoldMessages(row) ? undefined : (await countHeldMessages(connection, { orgId, ids: [id] })).get(id)
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
  const mayHold = rows.filter(mayHoldMessages).map(({ id }) => id)
  const held =
    mayHold.length === 0 ? new Map<string, number>() : await countHeldMessages(database, { orgId, ids: mayHold })
  return pageOf(rows, limit, {
    view: (row) => viewTarget(row, held.get(row.id) ?? 0),
    cursor: ({ createdAt, id }) => ({ createdAt, key: id }),
  })
}

interface TargetUpdateRequest {
  readonly id: string
  readonly change: TargetPatch
}

/** Updates a target. Disabling it holds pending deliveries; enabling it sends held ones. */
export async function updateTarget(ports: Ports, caller: Caller, request: TargetUpdateRequest): Promise<TargetView> {
  const { released: _released, ...view } = await ports.commands.execute(
    await updateTargetCommand(ports, caller, request),
  )
  return view
}

/** The command that updates a target, validated before it is executed. */
export async function updateTargetCommand(
  ports: Ports,
  caller: Caller,
  request: TargetUpdateRequest,
): Promise<Command<EnabledTargetView>> {
  const stored = await loadRequestedTarget(ports.database, caller.orgId, request.id)
  const read = targetConfigFrom(request.change, targetConfigOf(stored))
  if (changesDestination(read, stored)) await refuseFlawedTarget(ports, caller.orgId, read)
  return editTargetCommand(ports, caller, {
    id: request.id,
    verb: 'update',
    read: (row) => targetConfigFrom(request.change, targetConfigOf(row)),
  })
}

/** Enables a target and sends its held messages. */
export const enableTarget = (ports: Ports, caller: Caller, id: string): Promise<EnabledTargetView> =>
  ports.commands.execute(
    editTargetCommand(ports, caller, {
      id,
      verb: 'enable',
      read: (row) => ({ ...targetConfigOf(row), enabled: true }),
    }),
  )

/** The settings of a stored target. */
const targetConfigOf = ({ name, kind, url, settings, quietHours, alerts, disabledAt }: TargetRow): TargetConfig => ({
  ...{ name, kind, url, settings, quietHours, alerts, enabled: disabledAt === null },
})

/** Whether the change sends messages to another destination. */
const changesDestination = (read: TargetConfig, stored: TargetRow): boolean =>
  read.url !== stored.url || JSON.stringify(read.settings) !== JSON.stringify(stored.settings)

interface TargetEdit {
  readonly id: string
  readonly verb: AuditVerb<'target'>
  readonly read: (row: TargetRow) => TargetConfig
}

interface PreparedTargetUpdate {
  readonly before: TargetRow
  readonly after: TargetRow
  readonly view: EnabledTargetView
  /** Ids of alerts to close. */
  readonly endedAlertIds: readonly string[]
}

function editTargetCommand(ports: Ports, caller: Caller, { id, verb, read }: TargetEdit): Command<EnabledTargetView> {
  const { orgId } = caller
  return {
    orgId,
    prepare: async (tx, now): Promise<PreparedTargetUpdate> => {
      const before = await loadRequestedTarget(tx, orgId, id)
      const { enabled, ...fields } = read(before)
      const address = fields.url === before.url ? {} : await storedUrlOf(ports, { ...before, ...fields })
      const after = { ...before, ...fields, ...address, ...enabledColumnsOf(before, enabled, now), updatedAt: now }
      await updateTargetRow(tx, after)
      const { released, over: endedAlertIds } = await updateDeliveries(tx, { before, after, now })
      return { before, after, endedAlertIds, view: { ...(await viewWithHeld(tx, after)), released } }
    },
    apply: (state, prepared) => {
      const { before, after, view, endedAlertIds } = prepared as PreparedTargetUpdate
      const views = { before: targetAuditView(before), after: targetAuditView(after), verb }
      state.changes.audits.push(changed(actorOf(caller), { kind: 'target', id: after.id }, views))
      emitTargetChange(state, after.id, view.released > 0 ? 'released' : 'updated')
      endDisabledAlerts(state, after, {
        ids: endedAlertIds,
        why: because('target_enabled', 'target.enabled', { target: after.name }),
      })
      return view
    },
  }
}

function enabledColumnsOf(
  before: TargetRow,
  enabled: boolean,
  now: Instant,
): Pick<TargetRow, 'disabledAt' | 'disabledWhy' | 'failuresInARow'> {
  const { disabledAt, disabledWhy, failuresInARow } = before
  if (enabled === (disabledAt === null)) return { disabledAt, disabledWhy, failuresInARow }
  return { disabledAt: enabled ? null : now, disabledWhy: null, failuresInARow: 0 }
}

async function updateDeliveries(
  tx: Transaction,
  { before, after, now }: { readonly before: TargetRow; readonly after: TargetRow; readonly now: Instant },
): Promise<{ readonly released: number; readonly over: readonly string[] }> {
  const { orgId, id } = after
  if (JSON.stringify(before.quietHours) !== JSON.stringify(after.quietHours))
    rescheduleHeld(tx, { orgId, targetId: id, until: storedQuietUntil(after.quietHours, now) ?? now })
  const isEnabled = after.disabledAt === null
  if (isEnabled === (before.disabledAt === null)) return { released: 0, over: [] }
  if (!isEnabled) {
    holdDeliveries(tx, { orgId, ids: [id] })
    return { released: 0, over: [] }
  }
  const released = await releaseHeldDeliveries(tx, { orgId, id, now, why: because('let_go', 'target.enabled') })
  return { released, over: await loadDisabledAlerts(tx, after) }
}

async function loadDisabledAlerts(tx: Transaction, { orgId, id }: TargetRow): Promise<readonly string[]> {
  const open = await loadOpenAlerts(tx, { orgId, kind: 'delivery_disabled', subjectId: id })
  return open.map((alert) => alert.id)
}

function endDisabledAlerts(
  state: OrgState,
  target: TargetRow,
  { ids, why }: { readonly ids: readonly string[]; readonly why: Why },
): void {
  const about = { subjectKind: 'target', subjectId: target.id, about: target.name } as const
  for (const id of ids) endAlert(state, { id, kind: 'delivery_disabled', ...about, why })
}

interface PreparedTargetDeletion {
  readonly row: TargetRow
  readonly endedAlertIds: readonly string[]
  readonly why: Why
}

/** Maximum number of schedules named in an error message. */
const MAX_NAMED_SCHEDULE_USERS = 5

/** Deletes a target that no schedule delivers to. Its pending deliveries fail. */
export const deleteTarget = async (ports: Ports, caller: Caller, request: { readonly id: string }): Promise<void> =>
  ports.commands.execute(deleteTargetCommand(caller, request))

/** The command that deletes a target. `isUnused`: the caller guarantees that no schedule delivers to it. */
export function deleteTargetCommand(
  caller: Caller,
  request: { readonly id: string; readonly isUnused?: true },
): Command<void> {
  const { orgId } = caller
  return {
    orgId,
    prepare: async (tx, now): Promise<PreparedTargetDeletion> => {
      const row = await loadRequestedTarget(tx, orgId, request.id)
      const users =
        request.isUnused === true
          ? []
          : await loadSchedulesOfTarget(tx, { orgId, id: row.id, limit: MAX_NAMED_SCHEDULE_USERS })
      if (users.length > 0)
        throw new Refusal('CONFLICT', `Schedules deliver to ${row.id}: ${users.join(', ')}; change them first`, {
          details: { schedule_ids: users },
        })
      const why = because('target_gone', 'delivery.target', { target: row.name })
      await failDeliveries(tx, { orgId, id: row.id, now, why })
      const endedAlertIds = await loadDisabledAlerts(tx, row)
      await deleteTargetRow(tx, { orgId, id: row.id })
      return { row, endedAlertIds, why }
    },
    apply: (state, prepared) => {
      const { row, endedAlertIds, why } = prepared as PreparedTargetDeletion
      state.changes.audits.push(deleted(actorOf(caller), { kind: 'target', id: row.id }, targetAuditView(row)))
      emitTargetChange(state, row.id, 'deleted')
      endDisabledAlerts(state, row, { ids: endedAlertIds, why })
    },
  }
}

function emitTargetChange(state: OrgState, id: string, change: string): void {
  state.changes.events.push({ kind: 'target.changed', subject: id, data: { change } })
}
