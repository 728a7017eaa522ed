// The diagram in docs/architecture.md: which room of src/ imports which.
// `npm run deps:picture` prints it.
import { cruise } from 'dependency-cruiser'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { ROOMS } from '../lint/rooms.cjs'

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..')

/** Returns a mermaid flowchart, sorted, so that the same imports give the same text. */
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

/** The room of a file; `index.ts` stands for itself. Packages are in the table above the diagram. */
const nodeOf = (file) =>
  Object.keys(ROOMS).find((name) => new RegExp(ROOMS[name]).test(file)) ?? (file === 'src/index.ts' ? file : undefined)

const idOf = (node) => node.replaceAll(/[^A-Za-z0-9]+/g, '_')

const shapeOf = (node) => `["${node}"]`

if (process.argv[1] === fileURLToPath(import.meta.url)) process.stdout.write(`${await drawImports()}\n`)
