// The picture of docs/architecture.md: which folder of src/ imports which, as the sources have it today.
// `npm run deps:picture` prints it.
import { cruise } from 'dependency-cruiser'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..')

/** A folder is a node; so is each of the packages the core wraps. Files directly in src/ stand for themselves. */
const NODE_OF = /^src\/(?:core\/time|[^/]+)|^node_modules\/(?:@[^/]+\/)?[^/]+/

/** Answers a mermaid flowchart, sorted, so that equal imports give equal text. */
export async function drawImports(directory = root) {
  const { output } = await cruise(['src'], {
    baseDir: directory,
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
  })
  const edges = new Set()
  const nodes = new Set()
  for (const { source, dependencies } of output.modules) {
    const from = nodeOf(source)
    if (from === undefined) continue
    nodes.add(from)
    for (const { resolved } of dependencies) {
      const to = nodeOf(resolved)
      if (to === undefined || to === from) continue
      nodes.add(to)
      edges.add(`  ${idOf(from)} --> ${idOf(to)}`)
    }
  }
  const declared = [...nodes].sort().map((node) => `  ${idOf(node)}${shapeOf(node)}`)
  return ['```mermaid', 'flowchart TD', ...declared, ...[...edges].sort(), '```'].join('\n')
}

const nodeOf = (file) => NODE_OF.exec(file)?.[0]

const idOf = (node) => node.replace(/^node_modules\//, 'npm/').replaceAll(/[^A-Za-z0-9]+/g, '_')

const shapeOf = (node) =>
  node.startsWith('node_modules/') ? `(["${node.slice('node_modules/'.length)}"])` : `["${node}"]`

if (process.argv[1] === fileURLToPath(import.meta.url)) process.stdout.write(`${await drawImports()}\n`)
