import type { LineageNode, LineageView } from '../../contract/lineage.ts'
import { oneLine } from '../output/text.ts'
import { paintState } from '../output/style.ts'
import { printJson } from '../remote/show.ts'
import type { Talk } from '../remote/talk.ts'

/** Shows where a run comes from and what it made, as a tree. */
export const showLineage = (talk: Talk, lineage: LineageView): Promise<void> =>
  talk.json ? printJson(talk, lineage) : talk.print(treeOf(talk, lineage))

function treeOf({ style }: Talk, { ancestors, self, children, next_cursor: more }: LineageView): string {
  const line = (node: LineageNode, depth: number, mark: string): string =>
    `${'  '.repeat(depth)}${mark}${node.kind} ${node.id} ${paintState(style, node.status)} ${aboutOf(node)}\n`
  const above = ancestors.map((node, index) => line(node, index, index === 0 ? '' : '└ ')).join('')
  const here = line(self, ancestors.length, ancestors.length === 0 ? '' : '└ ').replace('\n', '  ← this one\n')
  const below = children.map((node) => line(node, ancestors.length + 1, '└ ')).join('')
  const rest = more === null ? '' : `${'  '.repeat(ancestors.length + 1)}… more with --cursor ${more}\n`
  return `${above}${here}${below}${rest}`
}

const aboutOf = ({ kind, name, agent_id: agent, trigger }: LineageNode): string =>
  kind === 'schedule' ? oneLine(name ?? '') : `${trigger ?? ''} of agent ${agent}`
