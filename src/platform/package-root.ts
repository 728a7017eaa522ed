import { existsSync } from 'node:fs'

/** The directory of this package. Searched upward, because a build joins modules into files that lie elsewhere. */
export const PACKAGE_ROOT: URL = above(new URL('../', import.meta.url))

function above(directory: URL): URL {
  const isFound = existsSync(new URL('package.json', directory)) || directory.pathname === '/'
  return isFound ? directory : above(new URL('../../', directory))
}

/** Whether the program runs from its sources, as in development. */
export const IS_FROM_SOURCE = import.meta.url.endsWith('.ts')

/** The module that a thread begins with; null in a program that is run from its sources, where there is no such file. */
export function threadModule(place: string): URL | null {
  if (IS_FROM_SOURCE) return null
  const beside = new URL(`${place}.js`, import.meta.url)
  const built = new URL(`dist/${place}.js`, PACKAGE_ROOT)
  return [beside, built].find((module) => existsSync(module)) ?? null
}
