import type { Flaw } from '../core/input.ts'

/** What a thread says: how far it is, and once what came of it, or why nothing did. */
export type ThreadMessage<Outcome, Progress> =
  | { readonly kind: 'progress'; readonly progress: Progress }
  | { readonly kind: 'outcome'; readonly outcome: Outcome }
  | { readonly kind: 'invalid'; readonly flaws: readonly Flaw[] }
  | { readonly kind: 'failed'; readonly error: string }
