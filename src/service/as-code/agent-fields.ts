import { agentFields as contractFields } from '../../features/agents/schema.ts'
import { unusual } from '../../core/as-code/compare.ts'
import { isSame, pick, type Fields } from '../../core/as-code/same.ts'
import { RAIL_DEFAULTS } from '../../core/rails/guard-rails.ts'
import { DEFAULT_RETRY_POLICY, keptPolicyOf, policyFlaws, type RetryPolicy } from '../../domain/run/retry-policy.ts'
import type { AgentRow } from '../../features/agents/store.ts'
import { AGENT_DEFAULTS, usualRetries } from '../agent-input.ts'
import { viewAgent } from '../agents.ts'
import { viewGuardRails } from '../rails/view.ts'
import { viewRetryPolicy } from '../schedule-view.ts'

const NAMES = Object.keys(contractFields)

/** An agent in the names of a document, with every default written out and nothing hidden. */
export const agentFields = (row: AgentRow): Fields => ({ ...shownAgent(row), executor: row.executor })

/** The same as it may be shown. */
export const shownAgent = (row: AgentRow): Fields =>
  pick({ ...viewAgent(row), retry_policy: keptPolicy(row.retryPolicy) }, NAMES)

/** An agent as a document says it: without what is usual, and without what is hidden. */
export function writtenAgent(row: AgentRow): Fields {
  const { name, executor } = row
  const full = shownAgent(row)
  const found: Fields = unusual(full, agentFields({ ...row, ...AGENT_DEFAULTS, name, executor }))
  return pick(
    {
      ...found,
      ...{ name, executor: full['executor'] },
      ...(row.retryPolicy === null ? {} : { retry_policy: writtenPolicy(row.retryPolicy, usualRetries(executor)) }),
      ...(row.selfService === null
        ? {}
        : { self_service: unusual({ ...viewGuardRails(row.selfService) }, { ...viewGuardRails(RAIL_DEFAULTS) }) }),
    },
    NAMES,
  )
}

/** A retry policy without what it leaves to the deployment: what that has now is no part of the policy. */
export function keptPolicy(policy: RetryPolicy | null): Fields | null {
  if (policy === null) return null
  const leftOut: readonly string[] = policy.leftOut ?? []
  return Object.fromEntries(Object.entries(viewRetryPolicy(policy)).filter(([name]) => !leftOut.includes(name)))
}

/**
 * A retry policy as it was given: what equals a built-in default is written too, because the deployment may have another
 * one. What one of its fields is when it is left out may depend on another, so what would be read otherwise is written
 * whole.
 */
export function writtenPolicy(policy: RetryPolicy, maxRetries: number): Fields {
  const { strategy, ladderSeconds } = DEFAULT_RETRY_POLICY
  const short = unusual(keptPolicy(policy) ?? {}, { strategy, ladder_seconds: ladderSeconds })
  const read = keptPolicyOf(short, { ...DEFAULT_RETRY_POLICY, maxRetries })
  const full: Fields = { ...viewRetryPolicy(policy) }
  return policyFlaws(short).length === 0 && isSame(viewRetryPolicy(read), full) ? short : full
}
