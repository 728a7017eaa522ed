import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import type { Command } from 'commander'
import { commandOf, type CliContext } from './remote/call.ts'
import { EXIT, type ExitCode, type Terminal, write } from './terminal.ts'
import { describeFlaw, type Flaw, flawed, parsed, type Parsed, parseInteger, parseWord } from '../domain/input.ts'
import { earlier, formatInstant, type Instant, parseInstant } from '../domain/instant.ts'
import { largest } from '../domain/long-lists.ts'
import { weekdayOf } from '../domain/time/calendar.ts'
import { parseCron } from '../domain/time/cron-grammar.ts'
import { type CronPlan, nextFire } from '../domain/time/cron.ts'
import { DAY_MATCHES } from '../domain/time/cron-match.ts'
import { DST_POLICIES } from '../domain/time/dst-policy.ts'
import { type DstNote, previewTiming, type TimingPreview } from '../domain/time/preview.ts'
import { formatInZone, formatOffset, localDayAt, offsetAt } from '../domain/time/wall-clock.ts'
import { parseZone } from '../domain/time/zone.ts'

/** Stands for a line above the length limit, whose text is discarded. */
const TOO_LONG = Symbol('too long')

type CronInputLine = string | typeof TOO_LONG

/**
 * Splits a stream into lines and yields the lines of each chunk, so that a program that keeps its pipe open gets answers
 * at once. Memory stays bounded, because lines above the limit are discarded.
 */
async function* readLineChunks(input: Readable, maxLineLength: number): AsyncGenerator<readonly CronInputLine[]> {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  let overflowing = false
  for await (const chunk of input) {
    const pieces = (rest + (typeof chunk === 'string' ? chunk : decoder.write(chunk as Buffer))).split('\n')
    rest = pieces.pop() ?? ''
    const lines = pieces.map((piece, index) =>
      (index === 0 && overflowing) || piece.length > maxLineLength ? TOO_LONG : withoutReturn(piece),
    )
    if (pieces.length > 0) overflowing = false
    if (rest.length > maxLineLength) {
      overflowing = true
      rest = ''
    }
    if (lines.length > 0) yield lines
  }
  rest += decoder.end()
  if (overflowing || rest.length > maxLineLength) yield [TOO_LONG]
  else if (rest !== '') yield [withoutReturn(rest)]
}

const withoutReturn = (line: string): string => (line.endsWith('\r') ? line.slice(0, -1) : line)

/** A flaw for a terminal, with a caret under the error if its position is known, and the allowed values. */
function flawWithCaret(flaw: Flaw): string {
  const lines = flaw.position === undefined ? [flawLine(flaw)] : withCaret(flaw, flaw.position)
  if (flaw.allowed !== undefined) lines.push(`  allowed: ${flaw.allowed}`)
  return `${lines.join('\n')}\n`
}

const flawLine = (flaw: Flaw): string => `${flaw.field} ${JSON.stringify(flaw.value)} ${flaw.message}`

function withCaret(flaw: Flaw, position: number): string[] {
  // Control characters are not one column wide and would shift the caret.
  const text = String(flaw.value).replaceAll(/\p{Cc}/gu, ' ')
  return [`${flaw.field}: ${flaw.message}`, `  ${text}`, `  ${' '.repeat(position)}^ position ${position + 1}`]
}

/** An expression and its options, unchecked; an absent or null option takes its default. */
interface CronInput {
  readonly expr: unknown
  readonly tz?: unknown
  readonly dst?: unknown
  readonly dayMatch?: unknown
}

/** Reads all fields and reports all flaws, not only the first. */
export function parseCronPlan(input: CronInput): Parsed<CronPlan> {
  const expression = parseCron('expr', input.expr)
  const zone = parseZone('tz', input.tz ?? 'UTC')
  const dst = parseWord('dst', input.dst ?? 'vixie', DST_POLICIES)
  const dayMatch = parseWord('dayMatch', input.dayMatch ?? 'or', DAY_MATCHES)
  if (expression.ok && zone.ok && dst.ok && dayMatch.ok)
    return parsed({ expression: expression.value, zone: zone.value, dst: dst.value, dayMatch: dayMatch.value })
  return flawed([expression, zone, dst, dayMatch].flatMap(flawsOf))
}

const flawsOf = (answer: Parsed<unknown>): readonly Flaw[] => (answer.ok ? [] : answer.flaws)

const MAX_LINE_LENGTH = 65_536

/** Size of the cache of parsed plans; a full cache is cleared, which is cheaper than evicting single entries. */
const MAX_CACHED_PLANS = 10_000

type PlanCache = Map<string, Parsed<CronPlan>>

/** Prints one line for each line of stdin: `{"next": …}` or `{"error": …}`. */
export async function runCronNext(terminal: Terminal): Promise<ExitCode> {
  const plans: PlanCache = new Map()
  for await (const lines of readLineChunks(terminal.stdin, MAX_LINE_LENGTH)) {
    await write(terminal.stdout, lines.map((line) => `${JSON.stringify(answerLine(line, plans))}\n`).join(''))
  }
  return EXIT.ok
}

type CronAnswer = { readonly next: string | null } | { readonly error: string }

function answerLine(line: CronInputLine, plans: PlanCache): CronAnswer {
  if (line === TOO_LONG) return { error: `the line is longer than ${MAX_LINE_LENGTH} characters` }
  const question = parseQuestion(line, plans)
  if (!question.ok) return { error: question.flaws.map(describeFlaw).join('; ') }
  const fire = nextFire(question.value.plan, question.value.after)
  return { next: fire === null ? null : formatInstant(fire) }
}

interface CronQuestion {
  readonly plan: CronPlan
  readonly after: Instant
}

function parseQuestion(line: string, plans: PlanCache): Parsed<CronQuestion> {
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

function planOf({ expr, tz, dst, dayMatch }: CronRow, plans: PlanCache): Parsed<CronPlan> {
  const key = JSON.stringify([expr, tz, dst, dayMatch])
  const cached = plans.get(key)
  if (cached !== undefined) return cached
  if (plans.size >= MAX_CACHED_PLANS) plans.clear()
  const plan = parseCronPlan({ expr, tz, dst, dayMatch })
  plans.set(key, plan)
  return plan
}

type CronRow = Readonly<Record<'expr' | 'tz' | 'dst' | 'dayMatch' | 'from' | 'inclusive', unknown>>

function parseObject(line: string): Parsed<CronRow> {
  const allowed = 'one JSON object with expr, from and optionally tz, dst, dayMatch, inclusive'
  try {
    const value: unknown = JSON.parse(line)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return parsed(value as CronRow)
  } catch {
    // Falls through to the flaw below.
  }
  return flawed({ field: 'line', value: line.slice(0, 80), message: 'is not a JSON object', allowed })
}

const flawsOfInclusive = (value: unknown): readonly Flaw[] =>
  value === undefined || value === null || typeof value === 'boolean'
    ? []
    : [{ field: 'inclusive', value, message: 'must be a boolean', allowed: 'true, false' }]

/** The options as commander passes them: unchecked strings. */
interface PreviewOptions {
  readonly tz: string
  readonly dst: string
  readonly dayMatch: string
  readonly count: string
  readonly from?: string
  readonly json?: boolean
}

const MAX_SHOWN = 1000
const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']

/** Prints when an expression fires, or its flaws on stderr. */
async function runCronPreview(terminal: Terminal, expr: string, options: PreviewOptions): Promise<ExitCode> {
  const view = parseView(expr, options, terminal.now())
  if (!view.ok) {
    await write(terminal.stderr, view.flaws.map(flawWithCaret).join(''))
    return EXIT.refused
  }
  const { plan, from, count } = view.value
  const limits = { startsAt: null, endsAt: null, exclude: null }
  const preview = previewTiming({ kind: 'cron', ...plan, ...limits }, { now: from, count })
  const shown = options.json === true ? asJson(view.value, preview) : asText(view.value, preview)
  await write(terminal.stdout, shown)
  return EXIT.ok
}

interface CronPreview {
  readonly plan: CronPlan
  readonly from: Instant
  readonly count: number
}

/** The command-line names of the fields. */
const OPTION_NAMES: Readonly<Record<string, string>> = {
  expr: 'EXPR',
  tz: '--tz',
  dst: '--dst',
  dayMatch: '--day-match',
}

const withOptionName = (flaw: Flaw): Flaw => ({ ...flaw, field: OPTION_NAMES[flaw.field] ?? flaw.field })

function parseView(expr: string, options: PreviewOptions, now: Instant): Parsed<CronPreview> {
  const plan = parseCronPlan({ expr, tz: options.tz, dst: options.dst, dayMatch: options.dayMatch })
  const from = options.from === undefined ? parsed(now) : parseInstant('--from', options.from)
  // A value that is not a number stays a string, so that the error shows it as typed.
  const amount = /^\d+$/.test(options.count) ? Number(options.count) : options.count
  const count = parseInteger('--count', amount, { min: 1, max: MAX_SHOWN })
  if (plan.ok && from.ok && count.ok) return parsed({ plan: plan.value, from: from.value, count: count.value })
  return flawed([plan, from, count].flatMap(flawsOf).map(withOptionName))
}

function asText({ plan, from }: CronPreview, preview: TimingPreview): string {
  const { zone } = plan
  const local = (at: Instant): string =>
    `${WEEKDAYS[weekdayOf(localDayAt(zone, at))] ?? ''} ${formatInZone(zone, at)} ${formatOffset(offsetAt(zone, at))}`
  const rows = preview.next.map((at) => [local(at), formatInstant(at)] as const)
  const width = largest([zone.name.length, ...rows.map(([text]) => text.length)])
  const table = [[zone.name, 'UTC'] as const, ...rows].map(([left, right]) => `  ${left.padEnd(width)}   ${right}`)
  const never = [`  never after ${formatInstant(from)} (searched up to the end of 2199)`]
  return [preview.sentence, '', ...(rows.length === 0 ? never : table), ...clockChanges(preview.dstNotes), ''].join(
    '\n',
  )
}

/** Lists clock changes that affect a fire time; only counts the others. */
function clockChanges(notes: readonly DstNote[]): readonly string[] {
  if (notes.length === 0) return []
  const touching = notes.filter((note) => note.effect !== 'none')
  if (touching.length > 0) return ['', 'Clock changes:', ...touching.map((note) => `  ${note.sentence}`)]
  const changes = notes.length === 1 ? '1 clock change' : `${notes.length} clock changes`
  return ['', `${changes} in this period; no fire time is affected.`]
}

function asJson({ plan, from }: CronPreview, preview: TimingPreview): string {
  const { zone, expression, dst, dayMatch } = plan
  const next = preview.next.map((at) => ({
    at: formatInstant(at),
    local: formatInZone(zone, at),
    offset: formatOffset(offsetAt(zone, at)),
  }))
  const dstNotes = preview.dstNotes.map((note) => ({ ...note, at: formatInstant(note.at) }))
  const { sentence } = preview
  const question = { expr: expression.text, tz: zone.name, dst, dayMatch, from: formatInstant(from) }
  return `${JSON.stringify({ ...question, sentence, next, dstNotes }, null, 2)}\n`
}

const NEXT_DESCRIPTION =
  'read JSON lines {"expr","from","tz"?,"dst"?,"dayMatch"?,"inclusive"?}, print {"next"} or {"error"} for each'

/** `escapement cron …`: the evaluator, without a server. */
export function addCron(cron: Command, { terminal, settle }: CliContext): void {
  commandOf(cron, 'next', NEXT_DESCRIPTION).action(async () => settle(await runCronNext(terminal)))
  commandOf(cron, 'preview <expr>', 'show when an expression fires, and the effect of clock changes')
    .option('--tz <zone>', 'IANA time zone', 'UTC')
    .option('--dst <policy>', 'behavior at clock changes: vixie, skip, shift or both', 'vixie')
    .option('--day-match <how>', 'how to combine two restricted day fields: or, and', 'or')
    .option('--count <n>', 'number of times to show', '10')
    .option('--from <time>', 'start after this RFC 3339 time (default now)')
    .option('--json', 'print one JSON object')
    .action(async (expr: string, options: PreviewOptions) => settle(await runCronPreview(terminal, expr, options)))
}
