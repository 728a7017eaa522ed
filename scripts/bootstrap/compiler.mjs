import path from 'node:path'
import { pathToFileURL } from 'node:url'

/**
 * The program of the compiler. Its script `bin/tsc` passes no signal on to it under Node 20, so that a build that was
 * ended would go on.
 */
export async function findCompiler(root) {
  const finder = path.join(root, 'node_modules/typescript-7/lib/getExePath.js')
  const { default: getExePath } = await import(pathToFileURL(finder).href)
  return getExePath()
}
