import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import { bundleServer } from './bundle.mjs'
import { findCompiler } from './compiler.mjs'
import { FULL_DISK, needRoom } from './room.mjs'
import { runQuietly } from './run-quietly.mjs'
import { Stop } from './stop.mjs'
import { transpile } from './transpile.mjs'

const STAMP = 'dist/.sources.sha256'
const ENTRY = 'dist/cli/main.js'
const UI_STAMP = 'dist/.ui.sha256'
const UI_ENTRY = 'dist/ui/index.html'
const BUILD_INFO = 'dist/.tsbuildinfo'
/** Megabytes that dist/ takes. */
const ROOM = 50

/** Returns why dist/ has to be built, or `undefined` if it was built from exactly these sources. */
export function whyBuild(root) {
  if (!existsSync(path.join(root, ENTRY))) return 'dist is missing'
  if (readStamp(root, STAMP) !== hashSources(root)) return 'sources changed'
  return whyBuildUi(root)
}

/** The console is built separately, because most changes affect either the server or the console. */
function whyBuildUi(root) {
  if (!hasUi(root)) return undefined
  if (!existsSync(path.join(root, UI_ENTRY))) return 'the console is missing'
  return readStamp(root, UI_STAMP) === hashUi(root) ? undefined : 'the console changed'
}

/** Compiles src/ and ui/ to dist/ with type checks and declarations, and stores a hash of the sources. */
export async function build(root) {
  await building(root, async () => {
    await compileServer(root)
    if (hasUi(root)) await buildUi(root)
  })
}

/** Strips the types from src/ and builds ui/ if dist/ is out of date: all that a start needs. */
export async function transpileAll(root) {
  await building(root, async () => {
    const isThere = existsSync(path.join(root, ENTRY)) && readStamp(root, STAMP) === hashSources(root)
    if (!isThere) await transpileServer(root)
    if (whyBuildUi(root) !== undefined) await buildUi(root)
  })
}

async function building(root, work) {
  needRoom(root, ROOM, 'build dist/')
  try {
    await work()
  } catch (error) {
    throw error.code === 'ENOSPC' ? new Stop(FULL_DISK) : error
  }
}

async function buildUi(root) {
  const hash = hashUi(root)
  // Without the stamp, an interrupted build is never mistaken for a complete one.
  rmSync(path.join(root, UI_STAMP), { force: true })
  const ended = await runQuietly('Building the console (vite)', {
    command: process.execPath,
    args: [path.join(root, 'node_modules/vite/bin/vite.js'), 'build', '--logLevel', 'warn', 'ui'],
    cwd: root,
  })
  if (ended.signal !== undefined) throw new Stop('', ended)
  if (ended.code !== 0) {
    process.stderr.write(ended.output)
    throw new Stop('The console cannot be built; the error from Vite is above. Fix it, then run: npm run build')
  }
  await compressFiles(path.join(root, 'dist/ui'))
  writeFileSync(path.join(root, UI_STAMP), `${hash}\n`)
}

/** Compresses once at the highest level, so that the server never has to. */
async function compressFiles(directory) {
  const compress = async (file) => {
    const text = readFileSync(file)
    writeFileSync(`${file}.br`, await promisify(brotliCompress)(text))
    writeFileSync(`${file}.gz`, await promisify(gzip)(text, { level: 9 }))
  }
  await Promise.all(
    filesUnder(directory)
      .filter((file) => /\.(js|css|html|svg|json)$/.test(file))
      .map(compress),
  )
}

async function transpileServer(root) {
  const hash = hashSources(root)
  // The transformer of Vite, which exists only after packages are installed.
  const { transformSync } = await import('rolldown/utils')
  const sources = filesUnder(path.join(root, 'src')).filter((file) => file.endsWith('.ts'))
  // Transpile all sources before writing any, so that an invalid source leaves dist/ unchanged.
  const modules = sources.map((file) => {
    const place = path.relative(path.join(root, 'src'), file)
    return [path.join(root, 'dist', place.replace(/\.ts$/, '.js')), transpiled(transformSync, place, file)]
  })
  rmSync(path.join(root, STAMP), { force: true })
  // The declarations belong to other sources, and the compiler's build info is no longer valid.
  rmSync(path.join(root, BUILD_INFO), { force: true })
  for (const file of existing(path.join(root, 'dist'))) if (file.endsWith('.d.ts')) rmSync(file)
  for (const [file, text] of modules) {
    mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
  await finishServer(root, hash)
}

function transpiled(transformSync, place, file) {
  try {
    return transpile(transformSync, path.join('src', place), readFileSync(file, 'utf8'))
  } catch (error) {
    throw new Stop(`${error.message}. Fix it and run the command again; npm run check prints details.`)
  }
}

async function compileServer(root) {
  const dist = path.join(root, 'dist')
  const hash = hashSources(root)
  // With build info but without its output, the compiler would write nothing.
  if (!existsSync(path.join(root, ENTRY))) rmSync(dist, { recursive: true, force: true })
  rmSync(path.join(root, STAMP), { force: true })
  const ended = await runQuietly('Building (tsc)', {
    command: await findCompiler(root),
    args: ['-p', 'tsconfig.build.json'],
    cwd: root,
  })
  if (ended.signal !== undefined) throw new Stop('', ended)
  if (ended.code !== 0) {
    process.stderr.write(ended.output)
    throw new Stop('The sources do not compile; the errors are above. Fix them, then run: npm run build')
  }
  await finishServer(root, hash)
}

async function finishServer(root, hash) {
  removeLeftovers(root)
  if (existsSync(path.join(root, 'dist/cli/serve.js'))) await bundleServer(root)
  if (existsSync(path.join(root, ENTRY))) chmodSync(path.join(root, ENTRY), 0o755)
  writeFileSync(path.join(root, STAMP), `${hash}\n`)
}

/** Removes modules whose source was deleted, so that they can no longer be imported, and old source maps. */
function removeLeftovers(root) {
  for (const file of filesUnder(path.join(root, 'dist'))) {
    if (file.startsWith(path.join(root, 'dist/ui/'))) continue
    const compiled = /^(.*?)(\.d\.ts|\.js|\.map)$/.exec(path.relative(path.join(root, 'dist'), file))
    if (compiled !== null && !existsSync(path.join(root, 'src', `${compiled[1]}.ts`))) rmSync(file)
  }
}

/** Hashes content, not times: switching branches back and forth requires no build. */
const hashSources = (root) =>
  hashFiles(root, [...settingsOf(root, 'tsconfig.build.json'), ...filesUnder(path.join(root, 'src'))])

/** The console imports its client and parts of the contract from the sources of the server. */
const hashUi = (root) =>
  hashFiles(root, [
    ...settingsOf(root),
    ...['ui', 'src/api', 'src/client', 'src/features'].flatMap((folder) => filesUnder(path.join(root, folder))),
  ])

const settingsOf = (root, ...more) =>
  ['tsconfig.json', 'package-lock.json', ...more].map((name) => path.join(root, name))

const hasUi = (root) => existsSync(path.join(root, 'ui/index.html'))

function hashFiles(root, files) {
  const hash = createHash('sha256')
  for (const file of files) hash.update(path.relative(root, file)).update('\0').update(readFileSync(file)).update('\0')
  return hash.digest('hex')
}

/** The files in a directory that may not exist. */
const existing = (directory) => (existsSync(directory) ? filesUnder(directory) : [])

function filesUnder(directory) {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort()
}

function readStamp(root, stamp) {
  try {
    return readFileSync(path.join(root, stamp), 'utf8').trim()
  } catch {
    return undefined
  }
}
