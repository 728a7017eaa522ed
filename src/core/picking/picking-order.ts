import type { Candidate } from '../../domain/queue/gates.ts'

/** What an org or agent has in flight in a lane, and when it was served last there: any number that grows. */
export interface Share {
  readonly inFlight: number
  readonly servedAt: number
}

/** Fewest in flight, then unserved longest, then by name so that every node decides alike. */
export function isServedFirst(a: Share & { readonly id: string }, b: Share & { readonly id: string }): boolean {
  if (a.inFlight !== b.inFlight) return a.inFlight < b.inFlight
  if (a.servedAt !== b.servedAt) return a.servedAt < b.servedAt
  return a.id < b.id
}

/** Lower priority, then age, then id. */
export function goesFirst(
  a: Pick<Candidate, 'id' | 'priority' | 'createdAt'>,
  b: Pick<Candidate, 'id' | 'priority' | 'createdAt'>,
): boolean {
  if (a.priority !== b.priority) return a.priority < b.priority
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt
  return a.id < b.id
}
