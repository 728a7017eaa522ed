import type { Row } from './row.ts'
import { SEED_000 } from './seed-000.ts'
import { SEED_001 } from './seed-001.ts'
import { SEED_002 } from './seed-002.ts'
import { SEED_003 } from './seed-003.ts'
import { SEED_004 } from './seed-004.ts'

/** A source document, and how many statements it was found to make. */
export interface Seed {
  readonly number: string
  readonly title: string
  readonly statements: number
  readonly rows: readonly Row[]
}

/** The statements of the five documents that Escapement grew from, each with what executes it. */
export const SEEDS: readonly Seed[] = [
  { number: '000', title: 'Lanes and cron', statements: 118, rows: SEED_000 },
  { number: '001', title: 'With heartbeats', statements: 75, rows: SEED_001 },
  { number: '002', title: 'The control plane', statements: 139, rows: SEED_002 },
  { number: '003', title: 'Policies', statements: 89, rows: SEED_003 },
  { number: '004', title: 'Tasks', statements: 106, rows: SEED_004 },
]

/** No more statements than this may go without a test. */
export const MAX_NOT_EXECUTABLE = 15

/** How the statements are covered, as one line. */
export function countLine(seeds: readonly Seed[]): string {
  const rows = seeds.flatMap((seed) => seed.rows)
  const statements = seeds.reduce((sum, seed) => sum + seed.statements, 0)
  const differ = rows.filter(({ differs }) => differs !== undefined).length
  const without = rows.filter(({ notExecutable }) => notExecutable !== undefined).length
  const parts = [
    `${rows.length - differ} work`,
    `${differ} differ on purpose`,
    '0 partly',
    `${statements - rows.length} missing`,
    `${without} not executable`,
  ]
  return `${statements} statements: ${parts.join(', ')}`
}
