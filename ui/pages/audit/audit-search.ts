import type { AuditFilter } from '../../../src/features/audit/schema.ts'
import { textsOf } from '../../parts/search-texts.ts'

/** Which records are shown, and which one is open. */
export interface AuditSearch extends Pick<
  AuditFilter,
  'actor' | 'action' | 'object_kind' | 'object_id' | 'from' | 'to'
> {
  readonly record?: string
}

const isTime = (text: string | undefined): text is string => text !== undefined && !Number.isNaN(Date.parse(text))

/** Reads the address; what makes no sense is left out. */
export function readAuditSearch(given: Readonly<Record<string, unknown>>): AuditSearch {
  const { from, to, ...rest } = textsOf(given, [
    ...(['actor', 'action', 'object_kind', 'object_id', 'from', 'to', 'record'] as const),
  ])
  return {
    ...rest,
    ...(isTime(from) ? { from: new Date(from).toISOString() } : {}),
    ...(isTime(to) ? { to: new Date(to).toISOString() } : {}),
  }
}
