import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import { FULL_DISK, needRoom } from './room.mjs'
import { runQuietly } from './run-quietly.mjs'
import { PLAIN_COMMAND, Stop } from './stop.mjs'

/**
 * Returns why packages have to be installed, or `undefined` if node_modules matches the lockfile. With `omitDev`, only the
 * packages needed for a start are compared; development packages may be installed or not.
 */
export function whyInstall(root, { omitDev = false } = {}) {
  const installed = readJson(path.join(root, 'node_modules/.package-lock.json'))
  // npm writes this file last, so an interrupted installation looks like a missing one.
  if (installed === undefined) return 'node_modules is missing or incomplete'
  const wanted = readJson(path.join(root, 'package-lock.json'))
  if (wanted === undefined) throw new Stop('package-lock.json is missing or unreadable: is this a complete checkout?')
  const counts = ([where, entry]) => where !== '' && !(omitDev && isDev(entry, wanted.packages))
  if (!sameVersions(Object.entries(wanted.packages).filter(counts), Object.entries(installed.packages).filter(counts)))
    return 'package-lock.json changed'
  const lost = directPackages(wanted.packages, omitDev).find(
    (name) => !existsSync(path.join(root, 'node_modules', name, 'package.json')),
  )
  return lost === undefined ? undefined : `node_modules/${lost} is missing`
}

/** npm marks workspace folders as development, but not the links to them. */
const isDev = ({ dev, link, resolved }, packages) => dev === true || (link === true && packages[resolved]?.dev === true)

/** Packages for other platforms are in the lockfile but not installed; all others must be installed. */
function sameVersions(expected, there) {
  const known = new Map(expected)
  const installed = new Map(there)
  return (
    expected.every(([where, entry]) =>
      installed.has(where) ? installed.get(where).version === entry.version : entry.optional,
    ) && there.every(([where]) => known.has(where))
  )
}

/** The direct dependencies of this checkout's manifests. */
function directPackages(packages, omitDev) {
  const root = packages[''] ?? {}
  return ['', ...(root.workspaces ?? [])].flatMap((place) => {
    const { dependencies, devDependencies } = packages[place] ?? {}
    return Object.keys({ ...dependencies, ...(omitDev ? {} : devDependencies) })
  })
}

/** npm's default delays between tries are 10 s and 60 s, too long to find out that there is no network. */
const QUICKLY = ['--fetch-retry-mintimeout=1000', '--fetch-retry-maxtimeout=5000']
const QUIETLY = ['--no-audit', '--no-fund', '--loglevel=error']
const UNREACHABLE =
  /ENOTFOUND|ECONNREFUSED|ECONNRESET|EAI_AGAIN|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ENOTCACHED|ERR_SOCKET_TIMEOUT/

/** Megabytes needed during installation: packages of a start, development packages, and all. */
const ROOM = { start: 400, rest: 400, all: 800 }

/**
 * Installs packages and shows progress. On failure, throws a `Stop` with a message and restores the packages that were
 * installed before.
 */
export async function install(root, { omitDev = false } = {}) {
  const isRest = !omitDev && whyInstall(root, { omitDev: true }) === undefined
  needRoom(root, isRest ? ROOM.rest : omitDev ? ROOM.start : ROOM.all, 'install the packages')
  // Installed packages stay; if npm fails, it removes what it added.
  if (isRest)
    await runNpm(root, 'Installing development packages (npm install)', ['install', '--no-save', '--include=dev'])
  else
    await keeping(root, () =>
      runNpm(root, 'Installing packages (npm ci)', ['ci', omitDev ? '--omit=dev' : '--include=dev']),
    )
}

/** `npm ci` deletes all installed packages first; they are restored if the work fails. */
async function keeping(root, work) {
  const modules = path.join(root, 'node_modules')
  const kept = path.join(root, 'node_modules.before')
  rmSync(kept, { recursive: true, force: true })
  if (existsSync(modules)) renameSync(modules, kept)
  try {
    await work()
  } catch (error) {
    if (existsSync(kept)) {
      rmSync(modules, { recursive: true, force: true })
      renameSync(kept, modules)
    }
    throw error
  }
  rmSync(kept, { recursive: true, force: true })
}

async function runNpm(root, title, args) {
  const ended = await runQuietly(title, { ...npm([...args, ...QUIETLY, ...QUICKLY]), cwd: root })
  if (ended.signal !== undefined) throw new Stop('', ended)
  if (ended.code === 0) return
  if (UNREACHABLE.test(ended.output))
    throw new Stop(
      `The packages could not be downloaded: the npm registry cannot be reached. Once you are online, run: ${PLAIN_COMMAND}`,
    )
  if (ended.output.includes('ENOSPC')) throw new Stop(FULL_DISK)
  process.stderr.write(ended.output)
  throw new Stop(`npm could not install the packages; its output is above. Fix the problem, then run: ${PLAIN_COMMAND}`)
}

/** The npm that started this process, otherwise the one on the PATH. */
function npm(args) {
  const own = process.env.npm_execpath
  if (own !== undefined && /npm-cli\.[cm]?js$/.test(own)) return { command: process.execPath, args: [own, ...args] }
  return { command: process.platform === 'win32' ? 'npm.cmd' : 'npm', args }
}

function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}
