import type { AsCodeKind } from '../../../src/features/as-code/schema.ts'

/** The kinds in the order in which a file has them. */
export const KINDS: readonly AsCodeKind[] = ['agents', 'targets', 'schedules', 'budgets']

/** What the address of the page says. */
export interface AsCodeSearch {
  /** Left out: the file of what is stored. */
  readonly tab?: 'apply' | undefined
  /** Kinds of the file, with commas between them; all unless given. */
  readonly kinds?: string | undefined
}

/** Reads the address; what makes no sense is left out. */
export function readAsCodeSearch({ tab, kinds }: Readonly<Record<string, unknown>>): AsCodeSearch {
  const wanted = typeof kinds === 'string' ? KINDS.filter((kind) => kinds.split(',').includes(kind)) : []
  const isSome = wanted.length > 0 && wanted.length < KINDS.length
  return { ...(tab === 'apply' ? { tab } : {}), ...(isSome ? { kinds: wanted.join(',') } : {}) }
}
