// The threat model names a test for each protection. This lists these tests, and the missing ones.
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'

const MODEL = 'docs/security.md'

/** The files named in the threat model, each once. */
export function proofsIn(root) {
  const text = readFileSync(path.join(root, MODEL), 'utf8')
  return [...new Set([...text.matchAll(/`((?:test|scripts|src)\/[\w./-]+)`/g)].map(([, file]) => file))].sort()
}

/** The missing ones, as sentences. */
export const checkProofs = (root) =>
  proofsIn(root)
    .filter((file) => !existsSync(path.join(root, file)))
    .map((file) => `${MODEL} names ${file}, which does not exist`)
