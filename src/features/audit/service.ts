import { timingSafeEqual } from 'node:crypto'
import type { AuditFault, AuditFilter, AuditVerdict, AuditView } from './schema.ts'
import type { Page } from '../../api/page.ts'
import { invalid } from '../../api/refusals.ts'
import type { OrgId } from '../../domain/ids.ts'
import { flawed, parsed, type Parsed } from '../../domain/input.ts'
import { formatInstant, parseInstant } from '../../domain/instant.ts'
import { listAudits, loadAuditHead, loadAuditsFrom, type AuditHead, type AuditRow } from './store.ts'
import { GENESIS, hashOf } from './entry.ts'
import type { Caller } from '../access/caller.ts'
import { pageOfListed, parseLimit, readCursorParts, writeCursorParts } from '../../platform/db/cursor.ts'
import { collectFlaws, textField } from '../../domain/input-fields.ts'
import type { Ports } from '../../engine/ports.ts'

type AuditPorts = Pick<Ports, 'database'>

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

const parseAuditWord = textField({ min: 1, max: 512 })

/** A page of the org's audit records, newest first. `from` is inclusive, `to` exclusive. */
export async function listAudit(
  { database }: AuditPorts,
  { orgId }: Pick<Caller, 'orgId'>,
  filter: AuditFilter = {},
): Promise<Page<AuditView>> {
  const { flaws, keep } = collectFlaws()
  const given = <T>(name: keyof AuditFilter, parse: (field: string, value: unknown) => Parsed<T>): T | null =>
    filter[name] === undefined || filter[name] === '' ? null : keep(parse(name, filter[name]))
  const limit = keep(parseLimit('limit', filter.limit)) ?? 0
  const choice = {
    ...{ actor: given('actor', parseAuditWord), action: given('action', parseAuditWord) },
    ...{ objectKind: given('object_kind', parseAuditWord), objectId: given('object_id', parseAuditWord) },
    ...{ from: given('from', parseInstant), to: given('to', parseInstant), before: given('cursor', parseAuditCursor) },
  }
  if (flaws.length > 0) throw invalid(flaws)
  const listed = await listAudits(database, { orgId, ...choice, limit })
  return pageOfListed(
    listed,
    (row) => viewAudit(orgId, row),
    ({ no }) => writeCursorParts([no]),
  )
}

function parseAuditCursor(field: string, value: unknown): Parsed<number> {
  const parts = readCursorParts(value)
  const [no] = parts ?? []
  return parts?.length === 1 && Number.isSafeInteger(no) && (no as number) > 0
    ? parsed(no as number)
    : flawed({ field, value, message: 'is not a cursor', allowed: 'the next_cursor of an earlier response' })
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

/** The page size of verification, so that a chain of any length fits into memory. */
const PAGE = 1_000

/** The maximum number of faults reported. */
const MAX_FAULTS = 20

const ANCHOR = /^[0-9a-f]{64}$/i

/**
 * Verifies the whole audit chain of an org. Finds changed records (the hash does not match), missing records, and
 * records cut off at the end (the separately stored head has a higher number). If the head was cut too, an anchor (a
 * hash stored elsewhere) is not found any more.
 */
export async function verifyAudit(
  { database }: AuditPorts,
  orgId: OrgId,
  anchor: string | null = null,
): Promise<AuditVerdict> {
  if (anchor !== null && !ANCHOR.test(anchor))
    throw invalid([{ field: 'anchor', value: anchor, message: 'is not a hash', allowed: '64 hexadecimal digits' }])
  // Read before the chain, so that records appended meanwhile are not reported as missing.
  const head = await loadAuditHead(database, orgId)
  const verification: ChainVerification = {
    last: null,
    expected: GENESIS,
    records: 0,
    faults: [],
    anchored: anchor === null,
    headSeen: null,
  }
  for (;;) {
    const { rows, more } = await loadAuditsFrom(database, { orgId, after: verification.last?.no ?? 0, limit: PAGE })
    for (const row of rows) verifyRecord(verification, row, { orgId, anchor, headNo: head?.no ?? 0 })
    if (!more) break
  }
  verifyHead(verification, head)
  const after = await loadAuditHead(database, orgId)
  if (verification.last !== null && after !== undefined && after.no < verification.last.no)
    addFault(verification, {
      kind: 'changed',
      no: after.no + 1,
      message: `the head is record ${after.no}, but there are later records`,
    })
  if (!verification.anchored)
    addFault(verification, { kind: 'anchor_missing', no: null, message: `no record has the hash ${String(anchor)}` })
  const { last, faults, records } = verification
  return {
    ...{ ok: faults.length === 0, org_id: orgId, records, faults },
    head: last === null ? null : { no: last.no, hash: hex(last.hash) },
  }
}

interface ChainVerification {
  last: AuditRow | null
  /** The previous hash of the next record. */
  expected: Uint8Array
  records: number
  anchored: boolean
  /** The record with the number of the head, if it was found. */
  headSeen: AuditRow | null
  readonly faults: AuditFault[]
}

function verifyRecord(
  verification: ChainVerification,
  row: AuditRow,
  { orgId, anchor, headNo }: { readonly orgId: OrgId; readonly anchor: string | null; readonly headNo: number },
): void {
  const wanted = (verification.last?.no ?? 0) + 1
  const isGap = row.no !== wanted
  if (isGap)
    addFault(verification, { kind: 'gap', no: wanted, message: `records ${wanted} to ${row.no - 1} are missing` })
  // After a gap the previous hash is unknown, so the record's own hash is trusted.
  else if (!isSame(hashOf(orgId, verification.expected, row), row.hash))
    addFault(verification, { kind: 'changed', no: row.no, message: `record ${row.no} does not match its hash` })
  if (anchor !== null && hex(row.hash) === anchor.toLowerCase()) verification.anchored = true
  if (row.no === headNo) verification.headSeen = row
  verification.last = row
  verification.expected = row.hash
  verification.records += 1
}

/** Compares the end of the chain with the head. */
function verifyHead(verification: ChainVerification, head: AuditHead | undefined): void {
  const { last, headSeen } = verification
  if (head === undefined) {
    if (last !== null)
      addFault(verification, { kind: 'truncated', no: null, message: 'the head of the chain is missing' })
    return
  }
  if (headSeen === null) {
    const from = (last?.no ?? 0) + 1
    if (from <= head.no)
      addFault(verification, {
        kind: 'truncated',
        no: from,
        message: `records ${from} to ${head.no} are missing at the end`,
      })
  } else if (!isSame(headSeen.hash, head.hash))
    addFault(verification, {
      kind: 'changed',
      no: head.no,
      message: `record ${head.no} does not match the hash in the head`,
    })
}

function addFault(verification: ChainVerification, found: AuditFault): void {
  if (verification.faults.length < MAX_FAULTS) verification.faults.push(found)
}

const isSame = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && timingSafeEqual(a, b)
