import path from 'node:path'
import { pathToFileURL } from 'node:url'

/**
 * Path of the compiler's executable. The script `bin/tsc` doesn't forward signals to it under Node 20, so an interrupted
 * build would continue.
 */
export async function findCompiler(root) {
  const finder = path.join(root, 'node_modules/typescript-7/lib/getExePath.js')
  const { default: getExePath } = await import(pathToFileURL(finder).href)
  return getExePath()
}
