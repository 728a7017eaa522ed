/** A moment as a field for day and time wants it: the clock of the person, without a zone. */
export function wallTime(at: string | undefined): string {
  if (at === undefined) return ''
  const date = new Date(at)
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
