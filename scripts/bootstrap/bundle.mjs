import { rmSync } from 'node:fs'
import path from 'node:path'
import { Stop } from './stop.mjs'

const ENTRY = 'src/cli/serve.ts'
const PARTS = 'cli/serve'

/**
 * Writes the server over dist/cli/serve.js as one file, with what it loads only when wanted beside it: Node takes half a
 * second longer to load a thousand modules. Packages stay where they are. Everything else in dist/ is one file for each
 * source: that is what the library and the threads begin with.
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
    throw new Stop(`The server cannot be joined into one file: ${error.message}`)
  }
}
