import { createHash } from 'node:crypto'
import type { ImportReport } from './schema.ts'
import type { OrgId } from '../../domain/ids.ts'
import type { Connection } from '../../platform/db/database.ts'
import { listSchedules, type ScheduleCursor, type ScheduleRow } from '../schedules/store.ts'

type ImportSource = ImportReport['source']

/**
 * The mark in a description by which the next import recognizes a schedule. `key` identifies the line it came from,
 * `content` its content at the time. Users may change everything else.
 */
export interface ImportMark {
  readonly source: ImportSource
  readonly key: string
  readonly content: string
}

const IMPORT_MARK = /\((crontab|openclaw):([0-9a-f]{16}):([0-9a-f]{16})\)/u
const NAMES: Readonly<Record<ImportSource, string>> = { crontab: 'a crontab', openclaw: 'OpenClaw' }
const PAGE = 1_000

const hashed = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16)

/** The mark of a line. */
export const importMarkOf = (source: ImportSource, identity: string, query: unknown): ImportMark => ({
  ...{ source, key: hashed(identity), content: hashed(query) },
})

/** A short hash that is unique per value. */
export const shortNameOf = (value: unknown): string => hashed(value).slice(0, 12)

const importMarkText = ({ source, key, content }: ImportMark): string => `(${source}:${key}:${content})`

/** The description of a new schedule. */
export function describedWith(mark: ImportMark, description: string): string {
  const own = description.length > MAX_DESCRIPTION ? `${description.slice(0, MAX_DESCRIPTION)}…` : description
  return `${own === '' ? '' : `${own}\n\n`}Imported from ${NAMES[mark.source]} ${importMarkText(mark)}`
}

const MAX_DESCRIPTION = 9_000

/** The description with a newer mark; changes by users stay. */
export const withNewMark = (description: string, mark: ImportMark): string =>
  description.replace(IMPORT_MARK, importMarkText(mark))

/** A schedule from an import, with its mark. */
export interface ImportedSchedule {
  readonly row: ScheduleRow
  readonly mark: ImportMark
}

/** The schedules imported from a source, by the key of their line. */
export async function loadImportedSchedules(
  database: Connection,
  query: { readonly orgId: OrgId; readonly source: ImportSource },
): Promise<ReadonlyMap<string, ImportedSchedule>> {
  const found = new Map<string, ImportedSchedule>()
  let after: ScheduleCursor | null = null
  for (;;) {
    const choice = { orgId: query.orgId, state: null, kind: null, agentId: null, text: `(${query.source}:` }
    const rows = await listSchedules(database, { ...choice, failing: null, sort: 'created_at', after, limit: PAGE })
    for (const row of rows) {
      const [, source, key = '', content = ''] = IMPORT_MARK.exec(row.description) ?? []
      if (source === query.source && !found.has(key))
        found.set(key, { row, mark: { source: query.source, key, content } })
    }
    const last = rows.at(-1)
    if (rows.length < PAGE || last === undefined) return found
    after = { value: last.createdAt, id: last.id }
  }
}
