// Builds earlier versions of Escapement from the history of a checkout.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

const namesNow = (checkout) =>
  readdirSync(path.join(checkout, 'migrations'))
    .filter((name) => name.endsWith('.sql'))
    .sort()

/** Content hash and name of each current migration, in order. */
function migrationsNow(checkout) {
  const names = namesNow(checkout)
  const hashes = git(checkout, 'hash-object', ...names.map((name) => `migrations/${name}`))
    .trim()
    .split('\n')
  return names.map((name, index) => `${hashes[index]} ${name}`)
}

function migrationsAt(checkout, commit) {
  return git(checkout, 'ls-tree', commit, 'migrations/')
    .split('\n')
    .flatMap((line) => {
      const [, hash, name] = /^\S+ blob (\S+)\tmigrations\/(.*\.sql)$/.exec(line) ?? []
      return hash === undefined ? [] : [`${hash} ${name}`]
    })
}

/** Why a commit can't be built, and what to do about it. */
export function whyMissing(checkout, name) {
  const inside = spawnSync('git', ['-C', checkout, 'rev-parse', '--is-shallow-repository'], { encoding: 'utf8' })
  if (inside.error !== undefined) return 'git is not installed; install it'
  if (inside.status !== 0)
    return `this directory is not a clone, so it does not have commit ${name}; clone the repository`
  if (inside.stdout.trim() === 'true')
    return `this clone is shallow and does not have commit ${name}; run \`git fetch --unshallow\``
  return `this clone does not have commit ${name}; run \`git fetch --all\`, or name another one with --from`
}

/** The number of current migrations. */
export const countMigrations = (checkout) => namesNow(checkout).length

/** Describes a commit; undefined if it doesn't exist. */
export function describeCommit(checkout, name) {
  const found = spawnSync('git', ['-C', checkout, 'rev-parse', '--verify', '--quiet', `${name}^{commit}`], {
    encoding: 'utf8',
  })
  if (found.status !== 0) return undefined
  const commit = found.stdout.trim()
  const subject = git(checkout, 'show', '-s', '--format=%s', commit).trim()
  const then = migrationsAt(checkout, commit)
  const now = migrationsNow(checkout)
  return { commit, subject, migrations: then.length, isEarlier: then.every((one, index) => one === now[index]) }
}

/** What a build takes: sources, migrations and the list of packages. */
const BUILT = ['src', 'migrations', 'package.json', 'package-lock.json']

/** Extracts files of a commit into a directory: what a build takes, unless told otherwise. */
export function extract(checkout, commit, { directory, files = BUILT }) {
  mkdirSync(directory, { recursive: true })
  const archive = spawnSync('git', ['-C', checkout, 'archive', '--format=tar', commit, ...files], {
    maxBuffer: 256 * 1024 * 1024,
  })
  if (archive.status !== 0) throw new Error(`git archive ${commit}: ${archive.stderr}`)
  const unpacked = spawnSync('tar', ['-x', '-C', directory], { input: archive.stdout })
  if (unpacked.status !== 0) throw new Error(`tar: ${unpacked.stderr}`)
}

/** Required packages that are missing or installed in another version. */
export function unmetDependencies(directory, modules) {
  const { dependencies = {} } = JSON.parse(readFileSync(path.join(directory, 'package.json'), 'utf8'))
  return Object.entries(dependencies).flatMap(([name, version]) => {
    const found = installedVersion(modules, name)
    return found === version ? [] : [`${name} ${version} (installed: ${found ?? 'none'})`]
  })
}

function installedVersion(modules, name) {
  try {
    return JSON.parse(readFileSync(path.join(modules, name, 'package.json'), 'utf8')).version
  } catch {
    return undefined
  }
}

function git(checkout, ...args) {
  const { status, stdout, stderr } = spawnSync('git', ['-C', checkout, ...args], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`git ${args[0]}: ${stderr}`)
  return stdout
}
