import type { ExplainFinding, ExplainPolicy, FindingKind } from '../../contract/explain.ts'
import { readRule } from '../../core/explain/rules.ts'
import { formatInstant, type Instant } from '../../core/instant.ts'
import { explainWhy, whyOf, type Why } from '../../core/reasons.ts'
import { evidenceLinks, onlyOnce } from './links.ts'

/** The rule of a reason, with its value and where it is documented. */
export const policyOf = ({ rule, evidence }: Why): ExplainPolicy => readRule(rule, evidence)

interface About {
  readonly kind: FindingKind
  /** What people call what it is about; null: nothing in particular. */
  readonly about: string | null
  readonly at: Instant | null
  readonly links?: ExplainFinding['links']
}

/** Something that was found, told as one sentence that says what it is about. */
export function finding(why: Why, { kind, about, at, links = [] }: About): ExplainFinding {
  const sentence = explainWhy(why)
  return {
    ...{ kind, about, at: at === null ? null : formatInstant(at) },
    ...whyOf(why),
    sentence: about === null ? sentence : `${about}: ${sentence}`,
    policy: policyOf(why),
    links: onlyOnce([...links, ...evidenceLinks(why.evidence)]),
  }
}
