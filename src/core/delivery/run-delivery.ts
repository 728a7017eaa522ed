import type { TargetId } from '../ids.ts'

/** Where the result of a run goes: a target of the org, or the address that came with a task. */
export type RunDelivery = { readonly target: TargetId } | { readonly callback: string }

/** What is sent to one receiver stands in one line: the target, or the server that a callback names. */
export function lineOf(delivery: RunDelivery): string {
  if ('target' in delivery) return delivery.target
  try {
    return new URL(delivery.callback).origin
  } catch {
    return delivery.callback
  }
}
