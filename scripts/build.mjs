// `npm run build`: checks types, always compiles src/ and ui/ to dist/ with declarations, and writes the SBOM to dist/.
// `npm pack` runs it too. Packages must be installed.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from './bootstrap/build.mjs'
import { withLock } from './bootstrap/lock.mjs'
import { Stop } from './bootstrap/stop.mjs'
import { readCheckout } from './security/packages.mjs'
import { sbomText } from './security/sbom.mjs'

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..')

async function buildAll() {
  await build(root)
  writeFileSync(path.join(root, 'dist/sbom.cdx.json'), sbomText(readCheckout(root)))
}

await withLock(root, buildAll).catch((error) => {
  if (!(error instanceof Stop)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
})
