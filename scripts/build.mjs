// `npm run build`: compiles src/ and ui/ to dist/ whether or not it looks necessary. Packages have to be installed.
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from './bootstrap/build.mjs'
import { withLock } from './bootstrap/lock.mjs'
import { Stop } from './bootstrap/stop.mjs'

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..')

await withLock(root, () => build(root, { always: true })).catch((error) => {
  if (!(error instanceof Stop)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
})
