/** The JSON pointer (RFC 6901) of a path of names. */
export const toPointer = (path: readonly string[]): string =>
  path.map((part) => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
