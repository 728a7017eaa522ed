/** The zone of the person who looks. */
export const OWN_ZONE: string = Intl.DateTimeFormat().resolvedOptions().timeZone

const formats = new Map<string, Intl.DateTimeFormat>()

function formatOf(locale: string, zone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const name = `${locale} ${zone} ${JSON.stringify(options)}`
  const known = formats.get(name)
  if (known !== undefined) return known
  const made = new Intl.DateTimeFormat(locale, { ...options, timeZone: zone })
  formats.set(name, made)
  return made
}

interface Where {
  readonly locale: string
  readonly zone?: string
}

/** A time in full, with its offset from UTC: `Wed, 4 Mar 2026, 09:00:00 GMT+1`. */
export const fullTime = (at: number, { locale, zone = OWN_ZONE }: Where): string =>
  formatOf(locale, zone, {
    ...({ weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' } as const),
    ...({ hour: '2-digit', minute: '2-digit', second: '2-digit', timeZoneName: 'shortOffset' } as const),
  }).format(at)

/** The time of a day: `09:00`. */
export const clockTime = (at: number, { locale, zone = OWN_ZONE }: Where): string =>
  formatOf(locale, zone, { hour: '2-digit', minute: '2-digit' }).format(at)

/** The time of a day with its seconds: `09:00:05`. */
export const secondTime = (at: number, { locale, zone = OWN_ZONE }: Where): string =>
  formatOf(locale, zone, { hour: '2-digit', minute: '2-digit', second: '2-digit' }).format(at)

/** A day: `Wed 4 Mar`. */
export const dayName = (at: number, { locale, zone = OWN_ZONE }: Where): string =>
  formatOf(locale, zone, { weekday: 'short', day: 'numeric', month: 'short' }).format(at)

/** A day and the time: `4 Mar, 09:00`. */
export const shortTime = (at: number, { locale, zone = OWN_ZONE }: Where): string =>
  formatOf(locale, zone, { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' }).format(at)

/** A day of the week with its time, for plans: `Wed 4 Mar, 09:00`; seconds and the year only where they say something. */
export const dayTime = (at: number, { locale, zone = OWN_ZONE }: Where): string =>
  formatOf(locale, zone, {
    ...({ weekday: 'short', day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' } as const),
    ...(at % 60_000 === 0 ? {} : ({ second: '2-digit' } as const)),
    ...(new Date(at).getFullYear() === new Date().getFullYear() ? {} : ({ year: 'numeric' } as const)),
  }).format(at)

const INSTANTS = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?Z/g

/** A sentence of the server with its times, which are in UTC, on the reader's clock. */
export const withOwnTimes = (sentence: string, locale: string): string =>
  sentence.replaceAll(INSTANTS, (text) => dayTime(Math.floor(Date.parse(text) / 1_000) * 1_000, { locale }))

/** The time of a day to the millisecond: `09:00:05.123`. */
export const milliTime = (at: number, { locale, zone = OWN_ZONE }: Where): string =>
  formatOf(locale, zone, { hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3 }).format(
    at,
  )

/** A day and the time to the millisecond, with its offset from UTC. */
export const exactTime = (at: number, { locale, zone = OWN_ZONE }: Where): string =>
  formatOf(locale, zone, {
    ...({ day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', second: '2-digit' } as const),
    ...({ fractionalSecondDigits: 3, timeZoneName: 'shortOffset' } as const),
  }).format(at)
