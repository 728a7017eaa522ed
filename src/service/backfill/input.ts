import type { BackfillInput } from '../../contract/backfill.ts'
import { invalid } from '../../contract/refusals.ts'
import { BACKFILL_DEFAULTS, type BackfillTerms } from '../../core/backfill/backfill.ts'
import { formatInstant, type Instant, parseMoment } from '../../core/instant.ts'
import { meantLane } from '../../core/lanes.ts'
import type { Flaw } from '../../core/input.ts'
import { collectFlaws, textField } from '../../core/input-fields.ts'

/** What is asked for, with all that was left unsaid; refused when the range is none. */
export function readTerms(input: BackfillInput, now: Instant): BackfillTerms {
  const { flaws, keep } = collectFlaws()
  const from = keep(parseMoment('from', input.from))
  const to = input.to === undefined ? now : keep(parseMoment('to', input.to))
  const lane = input.lane === undefined || input.lane === null ? null : keep(textField(LANE)('lane', input.lane))
  if (from === null || to === null || flaws.length > 0) throw invalid(flaws)
  const range = rangeFlaws({ from, to }, input, now)
  if (range.length > 0) throw invalid(range)
  return {
    ...{ from, to },
    which: input.which ?? BACKFILL_DEFAULTS.which,
    order: input.order ?? BACKFILL_DEFAULTS.order,
    policy: input.policy ?? BACKFILL_DEFAULTS.policy,
    maxActive: input.max_active ?? BACKFILL_DEFAULTS.maxActive,
    spacingMs: input.spacing_ms ?? BACKFILL_DEFAULTS.spacingMs,
    lane: lane === null ? null : meantLane(lane),
    stopOnFailures: input.stop_on_failures === undefined ? BACKFILL_DEFAULTS.stopOnFailures : input.stop_on_failures,
    deliver: input.deliver ?? BACKFILL_DEFAULTS.deliver,
  }
}

const LANE = { min: 1, max: 64 }

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
