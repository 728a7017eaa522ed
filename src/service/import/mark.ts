import { createHash } from 'node:crypto'
import type { ImportReport } from '../../features/import/schema.ts'
import type { OrgId } from '../../domain/ids.ts'
import type { Connection } from '../../store/database.ts'
import type { ScheduleRow } from '../../store/schedule-row.ts'
import { listSchedules, type ScheduleCursor } from '../../store/schedules.ts'

type Source = ImportReport['source']

/**
 * How a schedule is known again at the next import: by a mark in its description. The first half names the line it came
 * from, the second half what that line asked for then. A person may change everything else about the schedule.
 */
export interface Mark {
  readonly source: Source
  readonly key: string
  readonly content: string
}

const MARK = /\((crontab|openclaw):([0-9a-f]{16}):([0-9a-f]{16})\)/u
const NAMES: Readonly<Record<Source, string>> = { crontab: 'a crontab', openclaw: 'OpenClaw' }
const PAGE = 1_000

const hashed = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16)

/** The mark of a line that asks for something. */
export const markOf = (source: Source, identity: string, asked: unknown): Mark => ({
  ...{ source, key: hashed(identity), content: hashed(asked) },
})

/** A short name for a thing of which there must be one for each value. */
export const shortNameOf = (value: unknown): string => hashed(value).slice(0, 12)

const textOf = ({ source, key, content }: Mark): string => `(${source}:${key}:${content})`

/** What a new schedule says of itself. */
export function describedWith(mark: Mark, description: string): string {
  const own = description.length > MOST_OWN ? `${description.slice(0, MOST_OWN)}…` : description
  return `${own === '' ? '' : `${own}\n\n`}Imported from ${NAMES[mark.source]} ${textOf(mark)}`
}

const MOST_OWN = 9_000

/** The same description with a newer mark; what a person has made of it stays. */
export const remarked = (description: string, mark: Mark): string => description.replace(MARK, textOf(mark))

/** A schedule that came from a file of that kind, and the mark it has. */
export interface Marked {
  readonly row: ScheduleRow
  readonly mark: Mark
}

/** The org's schedules that came from a file of that kind, by the line they came from. */
export async function loadMarked(
  database: Connection,
  asked: { readonly orgId: OrgId; readonly source: Source },
): Promise<ReadonlyMap<string, Marked>> {
  const found = new Map<string, Marked>()
  let after: ScheduleCursor | null = null
  for (;;) {
    const choice = { orgId: asked.orgId, state: null, kind: null, agentId: null, text: `(${asked.source}:` }
    const rows = await listSchedules(database, { ...choice, failing: null, sort: 'created_at', after, limit: PAGE })
    for (const row of rows) {
      const [, source, key = '', content = ''] = MARK.exec(row.description) ?? []
      if (source === asked.source && !found.has(key))
        found.set(key, { row, mark: { source: asked.source, key, content } })
    }
    const last = rows.at(-1)
    if (rows.length < PAGE || last === undefined) return found
    after = { value: last.createdAt, id: last.id }
  }
}
