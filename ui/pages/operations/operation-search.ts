import type { AuditFilter } from '../../../src/features/audit/schema.ts'
import type { DeliveryView } from '../../../src/features/deliveries/schema.ts'

type Given = Readonly<Record<string, unknown>>

const textOf = (given: unknown): string => (typeof given === 'string' || typeof given === 'number' ? String(given) : '')

/** Texts of the address by name, without the empty ones. */
function textsOf<Name extends string>(given: Given, names: readonly Name[]): { readonly [Key in Name]?: string } {
  const found = names.map((name) => [name, textOf(given[name])] as const).filter(([, text]) => text !== '')
  return Object.fromEntries(found) as { readonly [Key in Name]?: string }
}

/** How deliveries can stand, in the order in which people look for them. */
export const DELIVERY_STATES = [
  'pending',
  'held',
  'failed',
  'kept',
  'delivered',
] as const satisfies readonly DeliveryView['status'][]

/** Which deliveries are shown, and which one is open. */
export interface DeliverySearch {
  readonly status?: DeliveryView['status']
  readonly target_id?: string
  readonly run_id?: string
  readonly delivery?: string
}

/** Reads the address; what makes no sense is left out. */
export function readDeliverySearch(given: Given): DeliverySearch {
  const status = DELIVERY_STATES.find((word) => word === given['status'])
  return {
    ...textsOf(given, ['target_id', 'run_id', 'delivery']),
    ...(status === undefined ? {} : { status }),
  }
}

/** Which alerts are shown; the open ones unless said. */
export interface AlertSearch {
  readonly show?: 'cleared' | 'all'
}

/** Reads the address; what makes no sense is left out. */
export function readAlertSearch({ show }: Given): AlertSearch {
  return show === 'cleared' || show === 'all' ? { show } : {}
}

/** Which records are shown, and which one is open. */
export interface AuditSearch extends Pick<
  AuditFilter,
  'actor' | 'action' | 'object_kind' | 'object_id' | 'from' | 'to'
> {
  readonly record?: string
}

const isMoment = (text: string | undefined): text is string => text !== undefined && !Number.isNaN(Date.parse(text))

/** Reads the address; what makes no sense is left out. */
export function readAuditSearch(given: Given): AuditSearch {
  const { from, to, ...rest } = textsOf(given, [
    ...(['actor', 'action', 'object_kind', 'object_id', 'from', 'to', 'record'] as const),
  ])
  return {
    ...rest,
    ...(isMoment(from) ? { from: new Date(from).toISOString() } : {}),
    ...(isMoment(to) ? { to: new Date(to).toISOString() } : {}),
  }
}
