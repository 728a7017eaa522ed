/** The entity tag of a version. Strong: the same version is the same text. */
export const tagOf = (version: number): string => `"${version}"`

/** Not a valid version, so it matches nothing. */
const NO_VERSION = -1

/** The version that `If-Match` requires; undefined for any. A tag in another format matches nothing. */
export function readIfMatch(header: string | undefined): number | undefined {
  if (header === undefined || header.trim() === '*') return undefined
  const version = /^\s*"(\d{1,15})"\s*$/.exec(header)?.[1]
  return version === undefined ? NO_VERSION : Number(version)
}

/** Whether `If-None-Match` already has this tag. Weak tags count here, as RFC 9110 says. */
export const hasTag = (header: string | undefined, tag: string): boolean =>
  header !== undefined &&
  (header.trim() === '*' || header.split(',').some((one) => one.trim().replace(/^W\//, '') === tag))
