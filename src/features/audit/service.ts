import { timingSafeEqual } from 'node:crypto'
import type { AuditFault, AuditFilter, AuditVerdict, AuditView } from './schema.ts'
import type { Page } from '../../api/page.ts'
import { invalid } from '../../api/refusals.ts'
import type { OrgId } from '../../domain/ids.ts'
import { flawed, parsed, type Parsed } from '../../domain/input.ts'
import { formatInstant, parseInstant } from '../../domain/instant.ts'
import { listAudits, loadAuditHead, loadAuditsFrom, type AuditHead, type AuditRow } from './store.ts'
import { GENESIS, hashOf } from '../../service/audit-chain.ts'
import type { Caller } from '../../service/caller.ts'
import { pageOfListed, parseLimit, readCursorParts, writeCursorParts } from '../../platform/db/cursor.ts'
import { collectFlaws, textField } from '../../domain/input-fields.ts'
import type { Ports } from '../../service/ports.ts'

type Reading = Pick<Ports, 'database'>

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

const word = textField({ min: 1, max: 512 })

/** A page of what was done in the org, newest first. `from` is inside, `to` is outside. */
export async function listAudit(
  { database }: Reading,
  { orgId }: Pick<Caller, 'orgId'>,
  filter: AuditFilter = {},
): Promise<Page<AuditView>> {
  const { flaws, keep } = collectFlaws()
  const given = <T>(name: keyof AuditFilter, parse: (field: string, value: unknown) => Parsed<T>): T | null =>
    filter[name] === undefined || filter[name] === '' ? null : keep(parse(name, filter[name]))
  const limit = keep(parseLimit('limit', filter.limit)) ?? 0
  const choice = {
    ...{ actor: given('actor', word), action: given('action', word) },
    ...{ objectKind: given('object_kind', word), objectId: given('object_id', word) },
    ...{ from: given('from', parseInstant), to: given('to', parseInstant), before: given('cursor', parseNumber) },
  }
  if (flaws.length > 0) throw invalid(flaws)
  const listed = await listAudits(database, { orgId, ...choice, limit })
  return pageOfListed(
    listed,
    (row) => viewAudit(orgId, row),
    ({ no }) => writeCursorParts([no]),
  )
}

function parseNumber(field: string, value: unknown): Parsed<number> {
  const parts = readCursorParts(value)
  const [no] = parts ?? []
  return parts?.length === 1 && Number.isSafeInteger(no) && (no as number) > 0
    ? parsed(no as number)
    : flawed({ field, value, message: 'is not a cursor', allowed: 'the next_cursor of an earlier answer' })
}

const viewAudit = (orgId: OrgId, row: AuditRow): AuditView => ({
  no: row.no,
  org_id: orgId,
  at: formatInstant(row.at),
  actor: row.actor,
  action: row.action,
  object: { kind: row.objectKind, id: row.objectId },
  before: row.before ?? null,
  after: row.after ?? null,
  hash: hex(row.hash),
})

/** Records are looked at in pages of this many: a chain of millions fits into little memory. */
const PAGE = 1_000

/** After this many faults the rest is not listed: one change in the middle says enough. */
const MOST_FAULTS = 20

const ANCHOR = /^[0-9a-f]{64}$/i

/**
 * Walks the whole chain of an org. Finds records that were changed (their hash is not what they say), that are missing
 * in between, and that were cut off the end: the head, which is stored apart, names a later one; and when the head was
 * cut too, an anchor (the hash of a record, kept elsewhere) is not in the chain any more.
 */
export async function verifyAudit(
  { database }: Reading,
  orgId: OrgId,
  anchor: string | null = null,
): Promise<AuditVerdict> {
  if (anchor !== null && !ANCHOR.test(anchor))
    throw invalid([{ field: 'anchor', value: anchor, message: 'is not a hash', allowed: '64 hexadecimal digits' }])
  // Read before the chain: what is added while we walk is behind it, and not missed.
  const head = await loadAuditHead(database, orgId)
  const walk: Walk = {
    last: null,
    expected: GENESIS,
    records: 0,
    faults: [],
    anchored: anchor === null,
    headSeen: null,
  }
  for (;;) {
    const { rows, more } = await loadAuditsFrom(database, { orgId, after: walk.last?.no ?? 0, limit: PAGE })
    for (const row of rows) step(walk, row, { orgId, anchor, headNo: head?.no ?? 0 })
    if (!more) break
  }
  end(walk, head)
  const after = await loadAuditHead(database, orgId)
  if (walk.last !== null && after !== undefined && after.no < walk.last.no)
    fault(walk, {
      kind: 'changed',
      no: after.no + 1,
      message: `the head names record ${after.no}, and there are later ones`,
    })
  if (!walk.anchored)
    fault(walk, { kind: 'anchor_missing', no: null, message: `no record has the hash ${String(anchor)}` })
  const { last, faults, records } = walk
  return {
    ...{ ok: faults.length === 0, org_id: orgId, records, faults },
    head: last === null ? null : { no: last.no, hash: hex(last.hash) },
  }
}

interface Walk {
  last: AuditRow | null
  /** The hash that the next record builds on. */
  expected: Uint8Array
  records: number
  anchored: boolean
  /** The record of the head's number, when it was passed. */
  headSeen: AuditRow | null
  readonly faults: AuditFault[]
}

function step(
  walk: Walk,
  row: AuditRow,
  { orgId, anchor, headNo }: { readonly orgId: OrgId; readonly anchor: string | null; readonly headNo: number },
): void {
  const wanted = (walk.last?.no ?? 0) + 1
  const isGap = row.no !== wanted
  if (isGap) fault(walk, { kind: 'gap', no: wanted, message: `records ${wanted} to ${row.no - 1} are missing` })
  // Behind a gap nobody knows what the record was built on; its own hash is believed, and the walk goes on from it.
  else if (!isSame(hashOf(orgId, walk.expected, row), row.hash))
    fault(walk, { kind: 'changed', no: row.no, message: `record ${row.no} does not say what its hash says` })
  if (anchor !== null && hex(row.hash) === anchor.toLowerCase()) walk.anchored = true
  if (row.no === headNo) walk.headSeen = row
  walk.last = row
  walk.expected = row.hash
  walk.records += 1
}

/** Compares the end of the chain with the head. */
function end(walk: Walk, head: AuditHead | undefined): void {
  const { last, headSeen } = walk
  if (head === undefined) {
    if (last !== null) fault(walk, { kind: 'truncated', no: null, message: 'the head of the chain is missing' })
    return
  }
  if (headSeen === null) {
    const from = (last?.no ?? 0) + 1
    if (from <= head.no)
      fault(walk, { kind: 'truncated', no: from, message: `records ${from} to ${head.no} are missing at the end` })
  } else if (!isSame(headSeen.hash, head.hash))
    fault(walk, { kind: 'changed', no: head.no, message: `record ${head.no} is not the one the head names` })
}

function fault(walk: Walk, found: AuditFault): void {
  if (walk.faults.length < MOST_FAULTS) walk.faults.push(found)
}

const isSame = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && timingSafeEqual(a, b)
