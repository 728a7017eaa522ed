import { existsSync } from 'node:fs'

/** The root of this package; searched upward, because the build bundles modules into files at other levels. */
export const PACKAGE_ROOT: URL = above(new URL('../', import.meta.url))

function above(directory: URL): URL {
  const isFound = existsSync(new URL('package.json', directory)) || directory.pathname === '/'
  return isFound ? directory : above(new URL('../', directory))
}

/** Whether the program runs from its TypeScript sources. */
export const IS_FROM_SOURCE = import.meta.url.endsWith('.ts')

/** The entry module of a thread; null when running from sources, where it does not exist. */
export function threadModule(place: string): URL | null {
  if (IS_FROM_SOURCE) return null
  const beside = new URL(`../${place}.js`, import.meta.url)
  const built = new URL(`dist/${place}.js`, PACKAGE_ROOT)
  return [beside, built].find((module) => existsSync(module)) ?? null
}
