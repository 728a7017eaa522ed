import type { Flaw } from '../../domain/input.ts'
import type { Layer } from '../../platform/config/tree.ts'

/** What has to hold between settings, whoever gave them. Looks at a complete layer. */
export function crossFlaws(all: Layer): readonly Flaw[] {
  return [
    ...compare(all, {
      field: 'node.renew_ms',
      below: 'node.lease_ms',
      why: 'a lease has to be renewed before it lapses',
    }),
    ...compare(all, { field: 'retry.base_ms', upTo: 'retry.max_ms', why: 'the first wait cannot be the longest' }),
  ]
}

function compare(
  all: Layer,
  {
    field,
    why,
    ...limit
  }: { readonly field: string; readonly why: string } & ({ readonly below: string } | { readonly upTo: string }),
): readonly Flaw[] {
  const value = all.get(field)
  const other = 'below' in limit ? limit.below : limit.upTo
  const bound = all.get(other)
  if (typeof value !== 'number' || typeof bound !== 'number') return []
  if ('below' in limit ? value < bound : value <= bound) return []
  const name = other.slice(other.indexOf('.') + 1)
  return [{ field, value, message: `must ${'below' in limit ? 'be below' : 'not be above'} ${name}, ${bound}: ${why}` }]
}
