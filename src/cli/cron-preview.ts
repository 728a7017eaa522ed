import { largest } from '../domain/long-lists.ts'
import { flawed, parsed, parseInteger, type Flaw, type Parsed } from '../domain/input.ts'
import { formatInstant, parseInstant, type Instant } from '../domain/instant.ts'
import { weekdayOf } from '../domain/time/calendar.ts'
import type { CronPlan } from '../core/time/cron.ts'
import type { DstNote } from '../domain/time/preview.ts'
import { previewTiming, type TimingPreview } from '../core/time/preview.ts'
import { formatInZone, formatOffset, localDayOf, offsetAt } from '../domain/time/wall-clock.ts'
import { flawsOf, parseCronPlan } from './cron-plan.ts'
import { pointAtFlaw } from './flaw-text.ts'
import { EXIT, write, type ExitCode, type Terminal } from './terminal.ts'

/** The options as commander hands them over: texts, not yet checked. */
export interface PreviewOptions {
  readonly tz: string
  readonly dst: string
  readonly dayMatch: string
  readonly count: string
  readonly from?: string
  readonly json?: boolean
}

const MOST_SHOWN = 1000
const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']

/** Shows when an expression fires, or says on stderr what is wrong with it. */
export async function runCronPreview(terminal: Terminal, expr: string, options: PreviewOptions): Promise<ExitCode> {
  const view = parseView(expr, options, terminal.now())
  if (!view.ok) {
    await write(terminal.stderr, view.flaws.map(pointAtFlaw).join(''))
    return EXIT.refused
  }
  const { plan, from, count } = view.value
  const limits = { startsAt: null, endsAt: null, exclude: null }
  const preview = previewTiming({ kind: 'cron', ...plan, ...limits }, { now: from, count })
  const shown = options.json === true ? asJson(view.value, preview) : asText(view.value, preview)
  await write(terminal.stdout, shown)
  return EXIT.ok
}

interface View {
  readonly plan: CronPlan
  readonly from: Instant
  readonly count: number
}

/** What the fields are called on the command line. */
const OPTION_NAMES: Readonly<Record<string, string>> = {
  expr: 'EXPR',
  tz: '--tz',
  dst: '--dst',
  dayMatch: '--day-match',
}

const asTyped = (flaw: Flaw): Flaw => ({ ...flaw, field: OPTION_NAMES[flaw.field] ?? flaw.field })

function parseView(expr: string, options: PreviewOptions, now: Instant): Parsed<View> {
  const plan = parseCronPlan({ expr, tz: options.tz, dst: options.dst, dayMatch: options.dayMatch })
  const from = options.from === undefined ? parsed(now) : parseInstant('--from', options.from)
  // What is not a number goes on as the text it is, so that the complaint shows it.
  const amount = /^\d+$/.test(options.count) ? Number(options.count) : options.count
  const count = parseInteger('--count', amount, { min: 1, max: MOST_SHOWN })
  if (plan.ok && from.ok && count.ok) return parsed({ plan: plan.value, from: from.value, count: count.value })
  return flawed([plan, from, count].flatMap(flawsOf).map(asTyped))
}

function asText({ plan, from }: View, preview: TimingPreview): string {
  const { zone } = plan
  const local = (at: Instant): string =>
    `${WEEKDAYS[weekdayOf(localDayOf(zone, at))] ?? ''} ${formatInZone(zone, at)} ${formatOffset(offsetAt(zone, at))}`
  const rows = preview.next.map((at) => [local(at), formatInstant(at)] as const)
  const width = largest([zone.name.length, ...rows.map(([text]) => text.length)])
  const table = [[zone.name, 'UTC'] as const, ...rows].map(([left, right]) => `  ${left.padEnd(width)}   ${right}`)
  const never = [`  never again after ${formatInstant(from)} (looked up to the end of 2199)`]
  return [preview.sentence, '', ...(rows.length === 0 ? never : table), ...clockChanges(preview.dstNotes), ''].join(
    '\n',
  )
}

/** Changes that touch a fire are worth a line each; the others only a word that they were looked at. */
function clockChanges(notes: readonly DstNote[]): readonly string[] {
  if (notes.length === 0) return []
  const touching = notes.filter((note) => note.effect !== 'none')
  if (touching.length > 0) return ['', 'Clock changes:', ...touching.map((note) => `  ${note.sentence}`)]
  const changes = notes.length === 1 ? '1 clock change' : `${notes.length} clock changes`
  return ['', `${changes} on the way; no fire is affected.`]
}

function asJson({ plan, from }: View, preview: TimingPreview): string {
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
