const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** The stretches of time one can choose. */
export const SPANS = {
  '15m': 15 * MINUTE,
  '1h': HOUR,
  '2h': 2 * HOUR,
  '6h': 6 * HOUR,
  '24h': DAY,
  '7d': 7 * DAY,
  '30d': 30 * DAY,
} as const
/** The name of one of them. */
export type SpanName = keyof typeof SPANS

const SHORTEST = SPANS['15m']
const LONGEST = SPANS['30d']

/** Which stretch of time is shown. While it follows the clock, `from` is where it was when it was last looked at. */
export interface RibbonView {
  readonly from: number
  readonly span: number
  /** Where on the ribbon "now" stays, from 0 to 1; null after the view was moved. */
  readonly follows: number | null
  /** How close one may look, in milliseconds; a quarter of an hour unless given. */
  readonly shortest?: number | undefined
  /** How much one may see at once; thirty days unless given. */
  readonly longest?: number | undefined
}

/** A view that stays with now. */
export const viewAround = (now: number, span: number, follows = 0.5): RibbonView => ({
  ...{ from: now - span * follows, span, follows },
})

/** The view at a time. */
export const viewAt = (view: RibbonView, now: number): RibbonView =>
  view.follows === null ? view : { ...view, from: now - view.span * view.follows }

/** Moved by a share of what is shown; it then stays where it is. */
export const pan = (view: RibbonView, share: number): RibbonView => ({
  ...view,
  ...{ from: view.from + view.span * share, follows: null },
})

/** Shows more or less around a place (0 to 1), which stays where it is. */
export function zoom(view: RibbonView, factor: number, around = view.follows ?? 0.5): RibbonView {
  const span = Math.min(view.longest ?? LONGEST, Math.max(view.shortest ?? SHORTEST, view.span * factor))
  return { ...view, span, from: view.from + (view.span - span) * around }
}

const STEPS = [
  ...[SECOND, 2 * SECOND, 5 * SECOND, 10 * SECOND, 15 * SECOND, 30 * SECOND],
  ...[MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE],
  ...[HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY, 14 * DAY],
]

/** How far apart marks stand so that their words do not touch. */
export const stepFor = (span: number, width: number, apart = 72): number =>
  STEPS.find((step) => (step / span) * width >= apart) ?? 28 * DAY

/** The moments that are marked: round ones of the person's clock. `offset` is what their clock is ahead of UTC. */
export function ticksOf({ from, span }: RibbonView, step: number, offset: (at: number) => number): readonly number[] {
  const ticks: number[] = []
  const ahead = offset(from)
  for (let local = Math.ceil((from + ahead) / step) * step; local - ahead <= from + span; local += step) {
    // Behind a change of the clock, round moments lie elsewhere, and some are not there at all.
    const at = local - offset(local - ahead)
    if (at >= from && at <= from + span && at > (ticks.at(-1) ?? -Infinity)) ticks.push(at)
  }
  return ticks
}

/** The UTC offset of the user's time zone at a time. */
export const ownOffset = (at: number): number => -new Date(at).getTimezoneOffset() * MINUTE

const BUCKETS = 180

/** Lengths of buckets the server may be asked for. */
const BUCKET_STEPS = [
  ...[MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE],
  ...[HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY],
]

/** How far back the server keeps counts by the minute and by the hour. */
const KEPT = [
  [2 * DAY, MINUTE],
  [40 * DAY, HOUR],
] as const

/** The length of the buckets of a view: short ones can be told apart, and old ones are kept in longer steps. */
export function bucketOf({ from, span }: RibbonView, now: number): number {
  // What is read begins a little before the view.
  const kept = KEPT.find(([age]) => from - span / 2 >= now - age)?.[1] ?? DAY
  return BUCKET_STEPS.find((step) => step >= kept && span / step <= BUCKETS) ?? DAY
}

/** The buckets that cover a view, and some more on each side, so that moving a little reads nothing. */
export function bucketsOf(
  view: RibbonView,
  now: number,
): { readonly from: number; readonly to: number; readonly step: number } {
  const step = bucketOf(view, now)
  const grain = Math.max(step, Math.round(view.span / 4 / step) * step)
  const ahead = ownOffset(view.from)
  const round = (at: number, how: (n: number) => number): number => how((at + ahead) / grain) * grain - ahead
  return { from: round(view.from, Math.floor), to: round(view.from + view.span, Math.ceil), step }
}
