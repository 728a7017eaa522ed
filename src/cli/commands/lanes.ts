import type { Command } from 'commander'
import type { LaneView } from '../../features/lanes/schema.ts'
import type { NodeView } from '../../features/nodes/schema.ts'
import { paintState } from '../output/style.ts'
import type { Column } from '../output/table.ts'
import { agoText } from '../output/times.ts'
import { number } from '../remote/fields.ts'
import { showDone, showList } from '../remote/show.ts'
import { commandOf, remote, type Desk, type Talk } from '../remote/talk.ts'

const LANE_COLUMNS: readonly Column<LaneView>[] = [
  { title: 'LANE', of: ({ name }) => name },
  { title: 'SIZE', of: ({ concurrency }) => String(concurrency), right: true },
  { title: 'ACTIVE', of: ({ active }) => String(active), right: true },
  { title: 'PENDING', of: ({ pending }) => String(pending), right: true },
]

/** How orgs share lanes, where a server limits them; earlier servers say nothing of it. */
const SHARE_COLUMNS: readonly Column<LaneView>[] = [
  { title: 'PER ORG', of: ({ max_per_org }) => String(max_per_org ?? '-'), right: true },
  {
    title: 'LARGEST ORG',
    of: ({ largest_org }: Partial<LaneView>) =>
      largest_org === null || largest_org === undefined ? '-' : `${largest_org.org_id} ${largest_org.held}`,
  },
]

const isShared = ({ max_per_org }: Partial<LaneView>): boolean => max_per_org !== null && max_per_org !== undefined

/** `escapement lanes …`: pools of slots that runs use. */
export function addLanes(group: Command, desk: Desk): void {
  remote(desk, commandOf(group, 'list', 'list lanes; sizes are per node'), {
    work: async (talk) => {
      const page = await talk.client.lanes.list()
      const columns = page.items.some(isShared) ? [...LANE_COLUMNS, ...SHARE_COLUMNS] : LANE_COLUMNS
      await showList(talk, page, { columns, none: 'No lanes.' })
    },
  })
  remote(desk, commandOf(group, 'set <name> <size>', 'set the size of a lane on every node (operator only)'), {
    names: { '/concurrency': 'SIZE', '/name': 'NAME' },
    work: async (talk, [name = '', size = '']) => {
      const concurrency = number(size, { option: 'SIZE', now: talk.now }) as number
      const lane = await talk.client.lanes.set(name, { concurrency })
      await showDone(talk, lane, `Lane ${lane.name} has ${lane.concurrency} slots on every node.`)
    },
  })
}

/** `escapement nodes list`: the server processes. */
export function addNodes(group: Command, desk: Desk): void {
  const all = group.command('list', { isDefault: true }).description('list the server processes (operator only)')
  remote(desk, all, {
    work: async (talk) => {
      await showList(talk, await talk.client.nodes.list(), { columns: nodeColumns(talk), none: 'No nodes.' })
    },
  })
}

const nodeColumns = ({ now, style }: Talk): readonly Column<NodeView>[] => [
  { title: 'ID', of: ({ id }) => id },
  { title: 'STATE', of: stateOf, paint: (text) => paintState(style, text) },
  { title: 'STARTED', of: ({ started_at }) => agoText(started_at, now) },
  { title: 'LEASE ENDS', of: ({ lease_until }) => agoText(lease_until, now) },
  { title: 'EXECUTES', of: ({ executors }) => executors.join(', '), flexible: true },
]

const stateOf = ({ alive, draining }: NodeView): string => (alive ? (draining ? 'draining' : 'alive') : 'gone')
