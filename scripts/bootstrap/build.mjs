import { createHash } from 'node:crypto'
import { chmodSync, existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { runQuietly } from './run-quietly.mjs'
import { Stop } from './stop.mjs'

const STAMP = 'dist/.sources.sha256'
const ENTRY = 'dist/cli/main.js'

/** Says why dist/ has to be built, or `undefined` when it was built from exactly these sources. */
export function whyBuild(root) {
  if (!existsSync(path.join(root, ENTRY))) return 'dist is missing'
  return readStamp(root) === hashSources(root) ? undefined : 'sources changed'
}

/** Compiles src/ to dist/ and remembers from which sources. */
export async function build(root) {
  const dist = path.join(root, 'dist')
  const hash = hashSources(root)
  // The compiler's memory of what it wrote must not outlive what it wrote, or it writes nothing.
  if (!existsSync(path.join(root, ENTRY))) rmSync(dist, { recursive: true, force: true })
  const ended = await runQuietly('Building (tsc)', {
    command: process.execPath,
    args: [path.join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.build.json'],
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

/** A deleted source must not live on as a module that can still be imported. */
function removeLeftovers(root) {
  for (const file of filesUnder(path.join(root, 'dist'))) {
    const compiled = /^(.*?)(\.d\.ts|\.js|\.js\.map)$/.exec(path.relative(path.join(root, 'dist'), file))
    if (compiled !== null && !existsSync(path.join(root, 'src', `${compiled[1]}.ts`))) rmSync(file)
  }
}

/** Content, not times: a checkout that switches branches and back has nothing to build. */
function hashSources(root) {
  const hash = createHash('sha256')
  const settings = ['tsconfig.json', 'tsconfig.build.json', 'package-lock.json'].map((name) => path.join(root, name))
  for (const file of [...settings, ...filesUnder(path.join(root, 'src'))]) {
    hash.update(path.relative(root, file)).update('\0').update(readFileSync(file)).update('\0')
  }
  return hash.digest('hex')
}

function filesUnder(directory) {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort()
}

function readStamp(root) {
  try {
    return readFileSync(path.join(root, STAMP), 'utf8').trim()
  } catch {
    return undefined
  }
}
