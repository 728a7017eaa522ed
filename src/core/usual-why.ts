import { because, type Why } from '../domain/reasons.ts'

/** What most runs are told on their way. One object each, so that a row of the usual kind is known by identity. */
export const ACCEPTED: Why = because('accepted', 'admission')
export const PICKED: Why = because('picked', 'picking_order')
export const COMPLETED: Why = because('completed', 'outcome')
