import type { DeliveryFilter, DeliveryTryView, DeliveryView } from './schema.ts'
import type { Page } from '../../api/page.ts'
import { invalid, Refusal } from '../../api/refusals.ts'
import { DELIVERY_STATES, type DeliveryState } from '../../domain/delivery/delivery.ts'
import type { TryError } from '../../domain/delivery/message.ts'
import { deliveryIdempotencyKey } from '../../domain/delivery/delivery-retry.ts'
import { runId, targetId, type OrgId, type RunId } from '../../domain/ids.ts'
import { flawed, parsed, type Parsed } from '../../domain/input.ts'
import { formatInstant } from '../../domain/instant.ts'
import { because, explainWhy } from '../../domain/reasons.ts'
import { isSendable, listDeliveries, loadDelivery, loadTries, restartDelivery, type DeliveryRecord } from './store.ts'
import type { Connection } from '../../platform/db/database.ts'
import type { TryRow } from './outbox-store.ts'
import { loadTargets } from '../targets/store.ts'
import { acted, actorOf } from '../audit/entry.ts'
import type { Caller } from '../access/caller.ts'
import { pageOfListed, parseCursor, parseLimit, writeCursor } from '../../platform/db/cursor.ts'
import { collectFlaws, textField } from '../../domain/input-fields.ts'
import type { Ports } from '../../engine/ports.ts'
import { formatInstantOrNull } from '../schedules/view.ts'

type DeliveryPorts = Pick<Ports, 'database'>

const deliveryNotFound = (id: string): Refusal => new Refusal('NOT_FOUND', `There is no delivery ${id}`)

/** A caller that reads deliveries. */
interface DeliveryReader extends Caller {
  /** Whether the caller may only read deliveries of scheduled runs. */
  readonly onlyOfSchedules?: boolean
}

/** A page of the org's deliveries with their tries, newest first. */
export async function findDeliveries(
  { database }: DeliveryPorts,
  { orgId, onlyOfSchedules = false }: DeliveryReader,
  filter: DeliveryFilter = {},
): Promise<Page<DeliveryView>> {
  const { flaws, keep } = collectFlaws()
  const text = (field: string, value: string | undefined): string | null =>
    value === undefined ? null : keep(textField({ min: 1, max: 512 })(field, value))
  const [run, target] = [text('run_id', filter.run_id), text('target_id', filter.target_id)]
  const states = filter.status === undefined ? null : keep(parseStatuses(filter.status))
  const limit = keep(parseLimit('limit', filter.limit)) ?? 0
  const cursor = keep(parseCursor('cursor', filter.cursor))
  if (flaws.length > 0) throw invalid(flaws)
  const listed = await listDeliveries(database, {
    ...{ orgId, states, limit, onlyOfSchedules },
    runId: run === null ? null : runId(run),
    targetId: target === null ? null : targetId(target),
    after: cursor === null ? null : { createdAt: cursor.createdAt, id: cursor.key },
  })
  const view = await viewWithTries(database, orgId, listed.rows)
  return pageOfListed(listed, view, ({ createdAt, id }) => writeCursor({ createdAt, key: id }))
}

function parseStatuses(value: string): Parsed<readonly DeliveryState[]> {
  const words = value.split(',').map((word) => word.trim().toLowerCase())
  const unknown = words.find((word) => !DELIVERY_STATES.some((status) => status === word))
  return unknown === undefined
    ? parsed(DELIVERY_STATES.filter((status) => words.includes(status)))
    : flawed({
        ...{ field: 'status', value: unknown, message: 'is not a status of a delivery' },
        allowed: DELIVERY_STATES.join(', '),
      })
}

/** The delivery with its tries. */
export async function getDelivery({ database }: DeliveryPorts, { orgId }: Caller, id: string): Promise<DeliveryView> {
  const row = await readDelivery(database, orgId, id)
  return (await viewWithTries(database, orgId, [row]))(row)
}

async function readDelivery(connection: Connection, orgId: OrgId, id: string): Promise<DeliveryRecord> {
  // PostgreSQL cannot store NUL in text, so no id contains one.
  const row = id.includes('\u0000') ? undefined : await loadDelivery(connection, { orgId, id })
  if (row === undefined) throw deliveryNotFound(id)
  return row
}

/** The deliveries of a run. */
export async function deliveriesOfRun(database: Connection, orgId: OrgId, id: RunId): Promise<readonly DeliveryView[]> {
  const { rows: found } = await listDeliveries(database, {
    ...{ orgId, runId: id, targetId: null, states: null, after: null, limit: 100 },
  })
  return found.length === 0 ? [] : found.map(await viewWithTries(database, orgId, found))
}

async function viewWithTries(
  database: Connection,
  orgId: OrgId,
  rows: readonly DeliveryRecord[],
): Promise<(row: DeliveryRecord) => DeliveryView> {
  const tried = rows.filter(({ triesInAll }) => triesInAll > 0).map(({ id }) => id)
  const tries = tried.length === 0 ? [] : await loadTries(database, { orgId, ids: tried })
  const byDelivery = new Map<string, TryRow[]>()
  for (const one of tries) {
    const known = byDelivery.get(one.deliveryId)
    if (known === undefined) byDelivery.set(one.deliveryId, [one])
    else known.push(one)
  }
  return (row) => viewDelivery(row, byDelivery.get(row.id) ?? [])
}

const viewDelivery = (row: DeliveryRecord, tries: readonly TryRow[]): DeliveryView => ({
  id: row.id,
  org_id: row.orgId,
  run_id: row.runId,
  alert_id: row.alertId,
  digest_id: row.digestId,
  digest: row.isDigest,
  kind: row.kind === 'saved' ? 'target' : row.kind,
  to: row.kind === 'session' || row.kind === 'channel' ? row.line : null,
  target_id: row.targetId,
  url: row.url,
  status: row.state,
  message_id: deliveryIdempotencyKey(row.id),
  next_try_at: formatInstantOrNull(row.nextTryAt),
  why: row.why,
  sentence: explainWhy(row.why),
  created_at: formatInstant(row.createdAt),
  finished_at: formatInstantOrNull(row.finishedAt),
  tries: tries.map(viewTry),
})

const viewTry = (row: TryRow): DeliveryTryView => ({
  number: row.number,
  node_id: row.nodeId,
  started_at: formatInstant(row.startedAt),
  finished_at: formatInstant(row.finishedAt),
  duration_ms: Math.max(0, row.finishedAt - row.startedAt),
  delivered: row.ok,
  status_code: row.statusCode,
  error_code: row.errorCode as TryError | null,
  message: row.message,
})

/** Sends a delivery now: a failed or stored one starts over, a waiting one is sent at once. */
export async function retryDelivery(ports: Ports, caller: Caller, id: string): Promise<DeliveryView> {
  const { orgId } = caller
  await ports.commands.execute({
    orgId,
    prepare: async (tx, now) => {
      const row = await readDelivery(tx, orgId, id)
      await refuseUnsendable(tx, row)
      await restartDelivery(tx, { orgId, id, now, why: because('let_go', 'request') })
      return row
    },
    apply: (orgState, prepared) => {
      const row = prepared as DeliveryRecord
      const how = { verb: 'retry', before: { status: row.state }, after: { status: 'pending' } } as const
      orgState.changes.audits.push(acted(actorOf(caller), { kind: 'delivery', id: row.id }, how))
      orgState.changes.events.push({
        ...{ kind: 'delivery.changed', subject: row.id },
        data: { run_id: row.runId, target_id: row.targetId, status: 'pending' },
      })
    },
  })
  return getDelivery(ports, caller, id)
}

async function refuseUnsendable(connection: Connection, row: DeliveryRecord): Promise<void> {
  const { orgId, id, state, targetId: target, digestId } = row
  if (state === 'held' && digestId !== null)
    throw new Refusal('CONFLICT', `Delivery ${id} is part of the digest ${digestId}; send the digest instead`)
  if (state === 'delivered') throw new Refusal('CONFLICT', `Delivery ${id} was delivered and cannot be sent again`)
  if (target !== null) {
    const [found] = await loadTargets(connection, { orgId, ids: [target] })
    if (found === undefined) throw new Refusal('CONFLICT', `The target ${target} of delivery ${id} was deleted`)
    if (found.disabledAt !== null)
      throw new Refusal('CONFLICT', `The target ${target} is disabled; enable it to send its held deliveries`)
  }
  if (!(await isSendable(connection, { orgId, id })))
    throw new Refusal('CONFLICT', `The run of delivery ${id} is no longer stored`)
}
