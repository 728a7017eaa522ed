import { flawed, parsed, parseWord, type Flaw, type Parsed } from '../domain/input.ts'
import { DAY_MATCHES, DST_POLICIES, type CronPlan } from '../core/time/cron.ts'
import { parseCron } from '../core/time/cron-grammar.ts'
import { parseZone } from '../core/time/zone.ts'

/** An expression and its options as somebody typed them; what is absent or null takes its default. */
export interface CronInput {
  readonly expr: unknown
  readonly tz?: unknown
  readonly dst?: unknown
  readonly dayMatch?: unknown
}

/** Reads everything and reports everything that is wrong, not only the first. */
export function parseCronPlan(input: CronInput): Parsed<CronPlan> {
  const expression = parseCron('expr', input.expr)
  const zone = parseZone('tz', input.tz ?? 'UTC')
  const dst = parseWord('dst', input.dst ?? 'vixie', DST_POLICIES)
  const dayMatch = parseWord('dayMatch', input.dayMatch ?? 'or', DAY_MATCHES)
  if (expression.ok && zone.ok && dst.ok && dayMatch.ok)
    return parsed({ expression: expression.value, zone: zone.value, dst: dst.value, dayMatch: dayMatch.value })
  return flawed([expression, zone, dst, dayMatch].flatMap(flawsOf))
}

export const flawsOf = (answer: Parsed<unknown>): readonly Flaw[] => (answer.ok ? [] : answer.flaws)
