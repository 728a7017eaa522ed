import type { ExplainFinding, ExplainPolicy, FindingKind } from '../../features/explain/schema.ts'
import { readRule } from '../../core/explain/rules.ts'
import { formatInstant, type Instant } from '../../domain/instant.ts'
import { explainWhy, whyOf, type Why } from '../../domain/reasons.ts'
import { evidenceLinks, onlyOnce } from './links.ts'

/** The rule of a reason, with its value and where it is documented. */
export const policyOf = ({ rule, evidence }: Why): ExplainPolicy => readRule(rule, evidence)

/** States that a person wants to hear before the reason for them. */
const TOLD_FIRST = ['skipped', 'rejected', 'dropped', 'expired', 'cancelled']

/** The sentence of a reason with what it is about before it. */
export function sentenceAbout(about: string | null, status: string | undefined, sentence: string): string {
  if (about === null) return sentence
  if (status === 'timeout') return `${about} timed out: ${sentence}`
  if (status === 'failed') return `${about} failed: ${sentence}`
  return status !== undefined && TOLD_FIRST.includes(status)
    ? `${about} ${status === 'expired' ? '' : 'was '}${status}: ${sentence}`
    : `${about}: ${sentence}`
}

interface About {
  readonly kind: FindingKind
  /** What people call what it is about; null: nothing in particular. */
  readonly about: string | null
  readonly at: Instant | null
  /** How it stands; left out: it stands in no way. */
  readonly status?: NonNullable<ExplainFinding['status']>
  readonly links?: ExplainFinding['links']
}

/** Something that was found, told as one sentence that says what it is about. */
export function finding(why: Why, { kind, about, at, status, links = [] }: About): ExplainFinding {
  return {
    ...{ kind, about, status: status ?? null, at: at === null ? null : formatInstant(at) },
    ...whyOf(why),
    sentence: sentenceAbout(about, status, explainWhy(why)),
    policy: policyOf(why),
    links: onlyOnce([...links, ...evidenceLinks(why.evidence)]),
  }
}
