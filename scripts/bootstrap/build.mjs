import { createHash } from 'node:crypto'
import { chmodSync, existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { findCompiler } from './compiler.mjs'
import { runQuietly } from './run-quietly.mjs'
import { Stop } from './stop.mjs'

const STAMP = 'dist/.sources.sha256'
const ENTRY = 'dist/cli/main.js'
const UI_STAMP = 'dist/.ui.sha256'
const UI_ENTRY = 'dist/ui/index.html'

/** Says why dist/ has to be built, or `undefined` when it was built from exactly these sources. */
export function whyBuild(root) {
  if (!existsSync(path.join(root, ENTRY))) return 'dist is missing'
  if (readStamp(root, STAMP) !== hashSources(root)) return 'sources changed'
  return whyBuildUi(root)
}

/** The console is built by itself: most changes of the server leave it as it is, and the other way round. */
function whyBuildUi(root) {
  if (!hasUi(root)) return undefined
  if (!existsSync(path.join(root, UI_ENTRY))) return 'the console is missing'
  return readStamp(root, UI_STAMP) === hashUi(root) ? undefined : 'the console changed'
}

/** Compiles src/ and ui/ to dist/, whichever is not there as it is now, and remembers from which sources. */
export async function build(root, { always = false } = {}) {
  const isCompiled = existsSync(path.join(root, ENTRY)) && readStamp(root, STAMP) === hashSources(root)
  if (always || !isCompiled) await buildServer(root)
  if (hasUi(root) && (always || whyBuildUi(root) !== undefined)) await buildUi(root)
}

async function buildUi(root) {
  const hash = hashUi(root)
  const ended = await runQuietly('Building the console (vite)', {
    command: process.execPath,
    args: [path.join(root, 'node_modules/vite/bin/vite.js'), 'build', '--logLevel', 'warn', 'ui'],
    cwd: root,
  })
  if (ended.signal !== undefined) throw new Stop('', ended)
  if (ended.code !== 0) {
    process.stderr.write(ended.output)
    throw new Stop('The console cannot be built; Vite says why above. Afterwards run: npm run build')
  }
  compressFiles(path.join(root, 'dist/ui'))
  writeFileSync(path.join(root, UI_STAMP), `${hash}\n`)
}

/** Once, at the highest level, so that the server never compresses. */
function compressFiles(directory) {
  for (const file of filesUnder(directory)) {
    if (!/\.(js|css|html|svg|json)$/.test(file)) continue
    const text = readFileSync(file)
    writeFileSync(`${file}.br`, brotliCompressSync(text))
    writeFileSync(`${file}.gz`, gzipSync(text, { level: 9 }))
  }
}

async function buildServer(root) {
  const dist = path.join(root, 'dist')
  const hash = hashSources(root)
  // The compiler's memory of what it wrote must not outlive what it wrote, or it writes nothing.
  if (!existsSync(path.join(root, ENTRY))) rmSync(dist, { recursive: true, force: true })
  const ended = await runQuietly('Building (tsc)', {
    command: await findCompiler(root),
    args: ['-p', 'tsconfig.build.json'],
    cwd: root,
  })
  if (ended.signal !== undefined) throw new Stop('', ended)
  if (ended.code !== 0) {
    process.stderr.write(ended.output)
    throw new Stop('The sources do not compile; the compiler says why above. Afterwards run: npm run build')
  }
  removeLeftovers(root)
  if (existsSync(path.join(root, ENTRY))) chmodSync(path.join(root, ENTRY), 0o755)
  writeFileSync(path.join(root, STAMP), `${hash}\n`)
}

/** A deleted source must not live on as a module that can still be imported, nor the map of an earlier build. */
function removeLeftovers(root) {
  for (const file of filesUnder(path.join(root, 'dist'))) {
    if (file.startsWith(path.join(root, 'dist/ui/'))) continue
    const compiled = /^(.*?)(\.d\.ts|\.js|\.map)$/.exec(path.relative(path.join(root, 'dist'), file))
    if (compiled !== null && !existsSync(path.join(root, 'src', `${compiled[1]}.ts`))) rmSync(file)
  }
}

/** Content, not times: a checkout that switches branches and back has nothing to build. */
const hashSources = (root) =>
  hashFiles(root, [...settingsOf(root, 'tsconfig.build.json'), ...filesUnder(path.join(root, 'src'))])

/** The console takes its client, and words of the contract, from the sources of the server. */
const hashUi = (root) =>
  hashFiles(root, [
    ...settingsOf(root),
    ...['ui', 'src/client', 'src/contract'].flatMap((folder) => filesUnder(path.join(root, folder))),
  ])

const settingsOf = (root, ...more) =>
  ['tsconfig.json', 'package-lock.json', ...more].map((name) => path.join(root, name))

const hasUi = (root) => existsSync(path.join(root, 'ui/index.html'))

function hashFiles(root, files) {
  const hash = createHash('sha256')
  for (const file of files) hash.update(path.relative(root, file)).update('\0').update(readFileSync(file)).update('\0')
  return hash.digest('hex')
}

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
