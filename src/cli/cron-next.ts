import { describeFlaw, flawed, parsed, type Flaw, type Parsed } from '../domain/input.ts'
import { earlier, formatInstant, parseInstant, type Instant } from '../domain/instant.ts'
import { nextFire, type CronPlan } from '../core/time/cron.ts'
import { flawsOf, parseCronPlan } from './cron-plan.ts'
import { linesOf, TOO_LONG, type Line } from './lines.ts'
import { EXIT, write, type ExitCode, type Terminal } from './terminal.ts'

const LONGEST_LINE = 65_536

/** Plans that are kept parsed; beyond that many different ones, starting over is cheaper than choosing. */
const KEPT_PLANS = 10_000

type PlanMemory = Map<string, Parsed<CronPlan>>

/** Answers each line of stdin with one line: `{"next": …}`, or `{"error": …}` and on with the next. */
export async function runCronNext(terminal: Terminal): Promise<ExitCode> {
  const plans: PlanMemory = new Map()
  for await (const lines of linesOf(terminal.stdin, LONGEST_LINE)) {
    await write(terminal.stdout, lines.map((line) => `${JSON.stringify(answerLine(line, plans))}\n`).join(''))
  }
  return EXIT.ok
}

type Answer = { readonly next: string | null } | { readonly error: string }

function answerLine(line: Line, plans: PlanMemory): Answer {
  if (line === TOO_LONG) return { error: `the line is longer than ${LONGEST_LINE} characters` }
  const question = parseQuestion(line, plans)
  if (!question.ok) return { error: question.flaws.map(describeFlaw).join('; ') }
  const fire = nextFire(question.value.plan, question.value.after)
  return { next: fire === null ? null : formatInstant(fire) }
}

interface Question {
  readonly plan: CronPlan
  readonly after: Instant
}

function parseQuestion(line: string, plans: PlanMemory): Parsed<Question> {
  const row = parseObject(line)
  if (!row.ok) return row
  const { from, inclusive } = row.value
  const plan = planOf(row.value, plans)
  const start = parseInstant('from', from)
  const inclusiveFlaws = flawsOfInclusive(inclusive)
  if (!plan.ok || !start.ok || inclusiveFlaws.length > 0)
    return flawed([...flawsOf(plan), ...flawsOf(start), ...inclusiveFlaws])
  return parsed({ plan: plan.value, after: inclusive === true ? earlier(start.value, 1) : start.value })
}

function planOf({ expr, tz, dst, dayMatch }: Row, plans: PlanMemory): Parsed<CronPlan> {
  const key = JSON.stringify([expr, tz, dst, dayMatch])
  const known = plans.get(key)
  if (known !== undefined) return known
  if (plans.size >= KEPT_PLANS) plans.clear()
  const plan = parseCronPlan({ expr, tz, dst, dayMatch })
  plans.set(key, plan)
  return plan
}

type Row = Readonly<Record<'expr' | 'tz' | 'dst' | 'dayMatch' | 'from' | 'inclusive', unknown>>

function parseObject(line: string): Parsed<Row> {
  const allowed = 'one JSON object with expr, from and optionally tz, dst, dayMatch, inclusive'
  try {
    const value: unknown = JSON.parse(line)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return parsed(value as Row)
  } catch {
    // Falls through: what is not JSON is not an object either.
  }
  return flawed({ field: 'line', value: line.slice(0, 80), message: 'is not a JSON object', allowed })
}

const flawsOfInclusive = (value: unknown): readonly Flaw[] =>
  value === undefined || value === null || typeof value === 'boolean'
    ? []
    : [{ field: 'inclusive', value, message: 'must be a truth value', allowed: 'true, false' }]
