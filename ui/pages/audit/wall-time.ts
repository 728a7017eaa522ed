/** A time as a date-time field takes it: in the user's time zone, without the zone. */
export function wallTime(at: string | undefined): string {
  if (at === undefined) return ''
  const date = new Date(at)
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
