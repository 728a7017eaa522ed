import { readFileSync } from 'node:fs'
import path from 'node:path'

/** Packages of the console. They are bundled into dist/ui and thus shipped, although only the console's workspace lists them. */
const BUILT_IN = [
  '@fontsource-variable/inter',
  '@mantine/core',
  '@mantine/hooks',
  '@tabler/icons-react',
  '@tanstack/react-query',
  '@tanstack/react-router',
  '@tanstack/react-virtual',
  'react',
  'react-dom',
]

const readJson = (file) => JSON.parse(readFileSync(file, 'utf8'))

/** The manifests (of the package and of the console) and the lockfile of a checkout. */
export const readCheckout = (root) => ({
  manifest: readJson(path.join(root, 'package.json')),
  console: readJson(path.join(root, 'ui/package.json')),
  lock: readJson(path.join(root, 'package-lock.json')),
})

/** The names of packages installed from a registry: all except the checkout itself and its workspaces. */
const isInstalled = ([place, { link }]) => place.includes('node_modules/') && link !== true

/** The name of a package, by its path in the lockfile. */
export const nameAt = (place) => place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length)

/** All packages in the lockfile that come from a registry, as `[place, entry]`. */
export const installedIn = ({ packages }) => Object.entries(packages).filter(isInstalled)

/** Where Node resolves a package from a place: there, or further up. */
function placeOf(packages, from, name) {
  for (let base = from; ; base = base.slice(0, Math.max(0, base.lastIndexOf('node_modules/') - 1))) {
    const place = base === '' ? `node_modules/${name}` : `${base}/node_modules/${name}`
    if (place in packages) return place
    if (base === '') return undefined
  }
}

/**
 * The shipped packages: production dependencies and packages bundled into the console, with their own dependencies.
 * Returns `{place, name, version, license, integrity, optional, builtIn, needs}`, sorted by place.
 */
export function shippedPackages({ manifest, lock: { packages } }) {
  const found = new Map()
  const visit = (from, name, how) => {
    const place = placeOf(packages, from, name)
    if (place === undefined) {
      if (how.optional) return
      throw new Error(`${name}, which ${from === '' ? 'this package' : from} needs, is not in the lockfile`)
    }
    const known = found.get(place)
    // A package that production needs is not just bundled, and one that is required anywhere is not optional.
    if (known !== undefined && (!known.builtIn || how.builtIn) && (!known.optional || how.optional)) return
    const entry = packages[place]
    const { dependencies = {}, optionalDependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = entry
    const peers = Object.keys(peerDependencies).filter((peer) => peerDependenciesMeta[peer]?.optional !== true)
    const needs = [...Object.keys(dependencies), ...peers].toSorted()
    const mayHave = Object.keys(optionalDependencies)
    found.set(place, {
      ...{ place, name: nameAt(place), version: entry.version, license: entry.license, integrity: entry.integrity },
      optional: (known?.optional ?? true) && how.optional,
      builtIn: (known?.builtIn ?? true) && how.builtIn,
      needs: [...needs, ...mayHave].map((one) => placeOf(packages, place, one)).filter((one) => one !== undefined),
    })
    for (const one of needs) visit(place, one, how)
    for (const one of mayHave) visit(place, one, { ...how, optional: true })
  }
  for (const name of Object.keys(manifest.dependencies)) visit('', name, { optional: false, builtIn: false })
  for (const name of Object.keys(manifest.optionalDependencies ?? {}))
    visit('', name, { optional: true, builtIn: false })
  for (const name of BUILT_IN) visit('', name, { optional: false, builtIn: true })
  return [...found.values()].toSorted((a, b) => (a.place < b.place ? -1 : 1))
}
