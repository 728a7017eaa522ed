import type { Flaw } from '../core/input.ts'
import type { SimulationListening, SimulationOutcome } from '../service/simulate/port.ts'

/** What a thread says: how far it is, and once what came of it, or why nothing did. */
export type ThreadMessage =
  | { readonly kind: 'progress'; readonly progress: Parameters<NonNullable<SimulationListening['progress']>>[0] }
  | { readonly kind: 'outcome'; readonly outcome: SimulationOutcome }
  | { readonly kind: 'invalid'; readonly flaws: readonly Flaw[] }
  | { readonly kind: 'failed'; readonly error: string }
