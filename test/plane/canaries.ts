import { randomBytes } from 'node:crypto'
import { OPERATIONS, type OperationId } from '../../src/operations/table.ts'
import type { TestDatabase } from '../support/database.ts'

/** Values that must be found nowhere, by what they are. */
export type Canaries = Readonly<Record<string, string>>

/** A value that stands nowhere by chance. */
export const canary = (word: string): string => `${word}-${randomBytes(18).toString('hex')}-end`

/**
 * What of the canaries is in a text: as it is, in Base64, in hexadecimal digits as bytes are shown, or cut in two. A form
 * that says which one it is and nothing of it would be no find.
 */
export function findIn(text: string, canaries: Canaries): readonly string[] {
  return Object.entries(canaries)
    .filter(([, value]) => formsOf(value).some((form) => text.includes(form)))
    .map(([name]) => name)
}

function formsOf(value: string): readonly string[] {
  const half = Math.floor(value.length / 2)
  const bytes = Buffer.from(value)
  // Without the first and the last digits: what stands before and after in the same text changes them.
  const base64 = [0, 1, 2].map((shift) =>
    Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .slice(4, -4),
  )
  return [
    ...[value.slice(0, half), value.slice(half), encodeURIComponent(value)],
    ...[
      bytes.toString('hex').slice(0, 2 * half),
      ...base64,
      ...base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
    ],
  ]
}

/** Every row of every table, as text: JSON, lists and bytes included. */
export async function dumpOf({ outside }: TestDatabase): Promise<Readonly<Record<string, string>>> {
  const tables = await outside(
    `select quote_ident(nspname) || '.' || quote_ident(relname) as name from pg_class c
       join pg_namespace n on n.oid = c.relnamespace
      where c.relkind in ('r', 'p') and nspname not in ('pg_catalog', 'information_schema') and nspname !~ '^pg_toast'`,
  )
  const dumps = tables.map(async ({ name }) => {
    const rows = await outside(`select t::text as row from ${String(name)} t`)
    // A row as text doubles quotation marks and backslashes.
    return [
      String(name),
      rows.map(({ row }) => String(row).replaceAll('""', '"').replaceAll('\\\\', '\\')).join('\n'),
    ] as const
  })
  return Object.fromEntries(await Promise.all(dumps))
}

/** Where the things are that a path names, by tag and parameter. */
const THINGS: Readonly<Record<string, string>> = {
  'agents.id': 'select id from escapement.agent',
  'budgets.id': 'select id from escapement.budget',
  'backfills.id': 'select id from escapement.backfill',
  'providers.name': 'select name as id from escapement.provider',
  'channels.id': 'select id from escapement.channel',
  'deliveries.id': 'select id from escapement.delivery',
  'alerts.id': 'select id from escapement.alert',
  'keys.id': 'select id from escapement.api_key',
  'members.id': 'select id from escapement.member',
  'members.org_id': 'select id from escapement.org',
  'orgs.org_id': 'select id from escapement.org',
  'runs.id': 'select id from escapement.run',
  'runs.runId': 'select id from escapement.run',
  'runs.other': 'select id from escapement.run',
  'schedules.id': 'select id from escapement.schedule',
  'secrets.name': 'select name as id from escapement.secret',
  'sessions.key': 'select key as id from escapement.session',
  'targets.id': 'select id from escapement.target',
  'tasks.id': `select id from escapement.run where id like 'tsk_%'`,
}

/** It shows one secret to whoever may write targets: that is what it is for. */
export const SHOWS_SIGNING_SECRET: OperationId = 'targets.signingSecret'

/** What operations cannot do without. */
const QUERIES: Readonly<Record<string, () => string>> = {
  'schedules.explain': () => '?at=2026-01-15T07:00:00Z',
  'schedules.outcomes': () => '?ids=sch_1',
  'agents.outcomes': () => '?ids=agt_1',
  // Everything there is has just been made.
  'explain.ask': () => `?at=${new Date().toISOString()}&within_seconds=3600`,
}

const isEndless = (id: OperationId): boolean => id === 'events.stream'

/** What every GET of the table answers, about everything there is. A parameter nobody knows is a gap in this search. */
export async function answersOf(
  database: TestDatabase,
  ask: (path: string) => Promise<string>,
): Promise<ReadonlyMap<string, string>> {
  const answers = new Map<string, string>()
  for (const [id, spec] of Object.entries(OPERATIONS)) {
    if (spec.method !== 'GET' || isEndless(id as OperationId)) continue
    const params = [...spec.path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
    let paths: readonly string[] = [spec.path]
    for (const param of params) {
      const select = THINGS[`${spec.tag}.${param}`]
      if (select === undefined) throw new Error(`say in canaries.ts where ${spec.tag}.${param} is`)
      const found = (await database.outside(select)).map((row) => encodeURIComponent(String(row['id'])))
      paths = paths.flatMap((path) => found.map((one) => path.replace(`:${param}`, one)))
    }
    const query = QUERIES[id]?.() ?? ''
    for (const path of paths) answers.set(`${id} ${path}`, await ask(`${path}${query}`))
  }
  return answers
}
