/**
 * What is kept of an output or an error: at most so many bytes of UTF-8, cut between characters, and marked where it was
 * cut. What is not text is kept as it is while its JSON fits, and as the beginning of that JSON otherwise.
 */
export function cutOutput(output: unknown, maxBytes: number): unknown {
  if (output === undefined || output === null) return null
  if (typeof output === 'string') return cutText(output, maxBytes)
  const text = toJson(output)
  return byteLength(text) <= maxBytes ? (JSON.parse(text) as unknown) : cutText(text, maxBytes)
}

/** A text of at most so many bytes, with a mark at its end if something is missing. NUL, which no row can hold, is shown. */
export function cutText(text: string, maxBytes: number): string {
  const clean = text.replaceAll('\0', '\u2400')
  const bytes = byteLength(clean)
  if (bytes <= maxBytes) return clean
  const kept = Buffer.from(clean).subarray(0, maxBytes).toString('utf8')
  // A character that was cut in two reads as U+FFFD at the end.
  const whole = kept.endsWith('\uFFFD') && !clean.startsWith(kept) ? kept.slice(0, -1) : kept
  return `${whole} […cut: ${bytes - byteLength(whole)} of ${bytes} bytes]`
}

const byteLength = (text: string): number => Buffer.byteLength(text)

/** What no JSON can hold is shown as text instead of failing the run that returned it. */
function toJson(value: unknown): string {
  try {
    const text = JSON.stringify(value, (_, inner: unknown) =>
      typeof inner === 'bigint' ? inner.toString() : inner,
    ) as string | undefined
    return (text ?? JSON.stringify(String(value))).replaceAll('\\u0000', '\\u2400')
  } catch {
    return JSON.stringify(String(value))
  }
}
