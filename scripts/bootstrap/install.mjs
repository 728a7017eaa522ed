import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { runQuietly } from './run-quietly.mjs'
import { PLAIN_COMMAND, Stop } from './stop.mjs'

/** Says why packages have to be installed, or `undefined` when node_modules is what the lockfile asks for. */
export function whyInstall(root) {
  const installed = readJson(path.join(root, 'node_modules/.package-lock.json'))
  // npm writes this file last, so an interrupted installation looks like a missing one.
  if (installed === undefined) return 'node_modules is missing or incomplete'
  const wanted = readJson(path.join(root, 'package-lock.json'))
  if (wanted === undefined) throw new Stop('package-lock.json is missing or unreadable: is this a complete checkout?')
  if (!sameVersions(wanted.packages, installed.packages)) return 'package-lock.json changed'
  const direct = { ...wanted.packages['']?.dependencies, ...wanted.packages['']?.devDependencies }
  const lost = Object.keys(direct).find((name) => !existsSync(path.join(root, 'node_modules', name, 'package.json')))
  return lost === undefined ? undefined : `node_modules/${lost} is missing`
}

/** Packages for other platforms are in the lockfile and not on the disk; everything else has to be there. */
function sameVersions(wanted, installed) {
  const expected = Object.entries(wanted).filter(([where]) => where !== '')
  const known = new Set(expected.map(([where]) => where))
  return (
    expected.every(
      ([where, entry]) => installed[where]?.version === entry.version || (entry.optional && !installed[where]),
    ) && Object.keys(installed).every((where) => known.has(where))
  )
}

// npm's own waits between tries are 10 s and 60 s; nobody who is offline wants to wait that long for the sentence below.
const NPM_CI = ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error']
const SHORT_WAITS = ['--fetch-retry-mintimeout=1000', '--fetch-retry-maxtimeout=5000']
const UNREACHABLE =
  /ENOTFOUND|ECONNREFUSED|ECONNRESET|EAI_AGAIN|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ENOTCACHED|ERR_SOCKET_TIMEOUT/

/** Runs `npm ci`, showing progress, and stops with the plain command when it does not succeed. */
export async function install(root) {
  const ended = await runQuietly('Installing packages (npm ci)', {
    ...npm([...NPM_CI, ...SHORT_WAITS]),
    cwd: root,
  })
  if (ended.signal !== undefined) throw new Stop('', ended)
  if (ended.code === 0) return
  process.stderr.write(ended.output)
  throw new Stop(
    UNREACHABLE.test(ended.output)
      ? `The packages could not be downloaded: the npm registry cannot be reached. Once you are online, run: ${PLAIN_COMMAND}`
      : `npm could not install the packages; what it said is above. When that is solved, run: ${PLAIN_COMMAND}`,
  )
}

/** The npm that started us, else the one on the PATH. */
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
