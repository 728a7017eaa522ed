import {
  CONCURRENCY_POLICIES,
  DEFAULT_SCHEDULE_RULES as RULES,
  FAILURE_ACTIONS,
  MISFIRE_POLICIES,
  OVERLAP_ACTIONS,
} from '../../../src/domain/schedule/rules.ts'
import type { PlainKey } from '../../texts/fill.ts'

const usualFirst = <Word extends string>(words: readonly Word[], usual: Word): readonly Word[] => [
  usual,
  ...words.filter((word) => word !== usual),
]

/** The words of each policy, the usual one first. */
export const POLICIES = {
  misfire: { field: 'misfire_policy', words: usualFirst(MISFIRE_POLICIES, RULES.misfirePolicy) },
  overlap: { field: 'overlap_action', words: usualFirst(OVERLAP_ACTIONS, RULES.overlapAction) },
  concurrency: { field: 'concurrency_policy', words: usualFirst(CONCURRENCY_POLICIES, RULES.concurrencyPolicy) },
  failure: { field: 'failure_action', words: usualFirst(FAILURE_ACTIONS, RULES.failureAction) },
} as const
/** The name of a policy. */
export type Policy = keyof typeof POLICIES

/** A choice of a policy, as in `overlap.SKIP`. */
export type PolicyWord = { [P in Policy]: `${P}.${(typeof POLICIES)[P]['words'][number]}` }[Policy]

/** The name of a choice, in plain words. */
export const policyName = (policy: Policy, word: string): PlainKey => `policy.${policy}.${word}` as PlainKey
/** What it does, in a sentence. */
export const policyText = (policy: Policy, word: string): PlainKey => `policy.${policy}.${word}.text` as PlainKey
