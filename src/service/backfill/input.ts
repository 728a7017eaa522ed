import type { BackfillInput } from '../../features/backfill/schema.ts'
import { invalid } from '../../api/refusals.ts'
import { BACKFILL_DEFAULTS, type BackfillTerms } from '../../core/backfill/backfill.ts'
import { formatInstant, momentIn, type Instant } from '../../domain/instant.ts'
import { meantLane } from '../../domain/queue/lanes.ts'
import type { Flaw } from '../../domain/input.ts'

/** What is asked for, with all that was left unsaid; refused when the range is none. */
export function readTerms(input: BackfillInput, now: Instant): BackfillTerms {
  const from = momentIn(input.from)
  const to = input.to === undefined ? now : momentIn(input.to)
  const range = rangeFlaws({ from, to }, input, now)
  if (range.length > 0) throw invalid(range)
  return {
    ...{ from, to },
    which: input.which ?? BACKFILL_DEFAULTS.which,
    order: input.order ?? BACKFILL_DEFAULTS.order,
    policy: input.policy ?? BACKFILL_DEFAULTS.policy,
    maxActive: input.max_active ?? BACKFILL_DEFAULTS.maxActive,
    spacingMs: input.spacing_ms ?? BACKFILL_DEFAULTS.spacingMs,
    lane: typeof input.lane === 'string' ? meantLane(input.lane) : null,
    stopOnFailures: input.stop_on_failures === undefined ? BACKFILL_DEFAULTS.stopOnFailures : input.stop_on_failures,
    deliver: input.deliver ?? BACKFILL_DEFAULTS.deliver,
  }
}

function rangeFlaws(
  { from, to }: Pick<BackfillTerms, 'from' | 'to'>,
  input: BackfillInput,
  now: Instant,
): readonly Flaw[] {
  const flaws: Flaw[] = []
  if (from >= to) flaws.push({ field: 'from', value: input.from, message: 'must be before to' })
  if (to > now)
    flaws.push({
      ...{
        field: 'to',
        value: input.to,
        message: 'is in the future, and what is still to come is for the schedule itself',
      },
      allowed: `up to ${formatInstant(now)}`,
    })
  return flaws
}
