// What the threat model promises, it names a test for: this is the list of them, and of those that are not there.
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'

const MODEL = 'docs/security.md'

/** The files that the threat model names, each once. */
export function proofsIn(root) {
  const text = readFileSync(path.join(root, MODEL), 'utf8')
  return [...new Set([...text.matchAll(/`((?:test|scripts|src)\/[\w./-]+)`/g)].map(([, file]) => file))].sort()
}

/** Those that are missing, in words. */
export const checkProofs = (root) =>
  proofsIn(root)
    .filter((file) => !existsSync(path.join(root, file)))
    .map((file) => `${MODEL} names ${file}, which does not exist`)
