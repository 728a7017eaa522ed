/** `traceparent` of the W3C: version, trace, span, flags. Versions to come may say more after it. */
const TRACEPARENT = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/
const NO_TRACE = '0'.repeat(32)
const NO_SPAN = '0'.repeat(16)

/** Reads `traceparent`. What is none is passed over, as the W3C says: a trace that is broken must not break a request. */
export function readTraceparent(given: unknown): string | null {
  if (typeof given !== 'string' || given.length > 512) return null
  const [, version = 'ff', trace = NO_TRACE, span = NO_SPAN, flags = '00', more] = TRACEPARENT.exec(given.trim()) ?? []
  const isNone = version === 'ff' || trace === NO_TRACE || span === NO_SPAN || (version === '00' && more !== undefined)
  return isNone ? null : `00-${trace}-${span}-${flags}`
}

/** The trace that a `traceparent` names. */
export const traceIdOf = (traceparent: string): string => traceparent.slice(3, 35)

/** The span that a `traceparent` names. */
export const spanIdOf = (traceparent: string): string => traceparent.slice(36, 52)

/** Whether a `traceparent` says that it is recorded. */
export const isSampled = (traceparent: string): boolean => (Number.parseInt(traceparent.slice(53), 16) & 1) === 1
