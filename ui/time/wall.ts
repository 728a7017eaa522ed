const MINUTE = 60_000
const parts = new Map<string, Intl.DateTimeFormat>()

function clockOf(zone: string): Intl.DateTimeFormat {
  const known = parts.get(zone)
  if (known !== undefined) return known
  const made = new Intl.DateTimeFormat('en-US', {
    ...({ timeZone: zone, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric' } as const),
    ...({ hour: 'numeric', minute: 'numeric', second: 'numeric' } as const),
  })
  parts.set(zone, made)
  return made
}

/** The wall-clock time of a zone, written as if it were UTC. */
function shownAt(at: number, zone: string): number {
  const found = new Map(
    clockOf(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  )
  const part = (name: Intl.DateTimeFormatPartTypes): number => found.get(name) ?? 0
  const time = [part('hour'), part('minute'), part('second')] as const
  return Date.UTC(part('year'), part('month') - 1, part('day'), ...time)
}

/** The UTC offset of a zone at a time, in milliseconds. */
const offsetAt = (at: number, zone: string): number => shownAt(at, zone) - Math.floor(at / 1_000) * 1_000

/** The offset as people write it: `UTC+05:30`. */
export function offsetName(at: number, zone: string): string {
  const minutes = Math.round(offsetAt(at, zone) / MINUTE)
  const two = (n: number): string => String(n).padStart(2, '0')
  return `UTC${minutes < 0 ? '−' : '+'}${two(Math.floor(Math.abs(minutes) / 60))}:${two(Math.abs(minutes) % 60)}`
}

const SECONDS = 19
const MINUTES = 16

/** The wall-clock time of a zone as date-time fields take it: `2026-03-04T09:00`. */
export function wallTime(at: number, zone: string): string {
  const text = new Date(shownAt(at, zone)).toISOString()
  return text.slice(0, text.slice(MINUTES, SECONDS) === ':00' ? MINUTES : SECONDS)
}

/**
 * The moment at which the wall clock of a zone shows a time; null when it is none. What a change of the clock leaves out
 * is moved by the gap, and what it repeats is the first of the two.
 */
export function momentOf(wall: string, zone: string): number | null {
  const local = Date.parse(`${wall}Z`)
  if (Number.isNaN(local)) return null
  const [before, after] = [offsetAt(local - 86_400_000, zone), offsetAt(local + 86_400_000, zone)]
  const fits = [local - before, local - after].filter((at) => shownAt(at, zone) === local)
  return fits.length > 0 ? Math.min(...fits) : local - before
}
