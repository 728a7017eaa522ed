import { rmSync } from 'node:fs'
import path from 'node:path'
import { Stop } from './stop.mjs'

const ENTRY = 'src/cli/serve.ts'
const PARTS = 'cli/serve'

/**
 * Bundles the server into dist/cli/serve.js, with lazily loaded parts in separate files, because loading a thousand modules
 * takes Node half a second longer. Packages are not bundled. Everything else in dist/ is one file per source, which the
 * library and the threads load.
 */
export async function bundleServer(root) {
  const { rolldown } = await import('rolldown')
  rmSync(path.join(root, 'dist', PARTS), { recursive: true, force: true })
  try {
    const bundle = await rolldown({
      input: { 'cli/serve': path.join(root, ENTRY) },
      cwd: root,
      platform: 'node',
      external: (id) => !id.startsWith('.') && !path.isAbsolute(id),
      logLevel: 'silent',
    })
    await bundle.write({ dir: path.join(root, 'dist'), chunkFileNames: `${PARTS}/[name]-[hash].js` })
    await bundle.close()
  } catch (error) {
    throw new Stop(`The server cannot be bundled: ${error.message}`)
  }
}
