import type { PlainKey } from '../texts/fill.ts'

/** The words of each policy, the usual one first. */
export const POLICIES = {
  misfire: { field: 'misfire_policy', words: ['CATCH_UP_LIMITED', 'FIRE_NOW', 'SKIP'] },
  overlap: { field: 'overlap_action', words: ['ALLOW', 'SKIP', 'BUFFER_ONE', 'CANCEL_PREV', 'PARALLEL'] },
  concurrency: { field: 'concurrency_policy', words: ['QUEUE', 'SKIP', 'PARALLEL'] },
  failure: { field: 'failure_action', words: ['RUN_NEW', 'RETRY', 'SKIP', 'BACKOFF', 'HALF_OPEN'] },
} as const
/** The name of a policy. */
export type Policy = keyof typeof POLICIES

/** A choice of a policy, as in `overlap.SKIP`. */
export type PolicyWord = { [P in Policy]: `${P}.${(typeof POLICIES)[P]['words'][number]}` }[Policy]

/** The name of a choice, in plain words. */
export const policyName = (policy: Policy, word: string): PlainKey => `policy.${policy}.${word}` as PlainKey
/** What it does, in a sentence. */
export const policyText = (policy: Policy, word: string): PlainKey => `policy.${policy}.${word}.text` as PlainKey
