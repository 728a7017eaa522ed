/** The W3C `traceparent` header: version, trace, span, flags. Future versions can add more fields. */
const TRACEPARENT = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/
const NO_TRACE = '0'.repeat(32)
const NO_SPAN = '0'.repeat(16)

/** Parses `traceparent`. An invalid one is ignored, as the W3C requires: it must not make the request fail. */
export function readTraceparent(given: unknown): string | null {
  if (typeof given !== 'string' || given.length > 512) return null
  const [, version = 'ff', trace = NO_TRACE, span = NO_SPAN, flags = '00', more] = TRACEPARENT.exec(given.trim()) ?? []
  const isNone = version === 'ff' || trace === NO_TRACE || span === NO_SPAN || (version === '00' && more !== undefined)
  return isNone ? null : `00-${trace}-${span}-${flags}`
}

/** The trace id of a `traceparent`. */
export const traceIdOf = (traceparent: string): string => traceparent.slice(3, 35)

/** The span id of a `traceparent`. */
export const spanIdOf = (traceparent: string): string => traceparent.slice(36, 52)

/** Whether the sampled flag of a `traceparent` is set. */
export const isSampled = (traceparent: string): boolean => (Number.parseInt(traceparent.slice(53), 16) & 1) === 1
