import type { Command } from 'commander'
import type { LaneView } from './schema.ts'
import type { NodeView } from '../nodes/schema.ts'
import { paintState } from '../../cli/output/style.ts'
import type { Column } from '../../cli/output/table.ts'
import { relativeTimeText } from '../../cli/output/times.ts'
import { number } from '../../cli/remote/fields.ts'
import { showResult, showList } from '../../cli/remote/show.ts'
import { commandOf, remote, type CliContext, type CliCall } from '../../cli/remote/call.ts'

const LANE_COLUMNS: readonly Column<LaneView>[] = [
  { title: 'LANE', value: ({ name }) => name },
  { title: 'SIZE', value: ({ concurrency }) => String(concurrency), right: true },
  { title: 'ACTIVE', value: ({ active }) => String(active), right: true },
  { title: 'PENDING', value: ({ pending }) => String(pending), right: true },
]

/** The shares of orgs, where the server limits them; servers of earlier releases send none. */
const ORG_SHARE_COLUMNS: readonly Column<LaneView>[] = [
  { title: 'PER ORG', value: ({ max_per_org }) => String(max_per_org ?? '-'), right: true },
  {
    title: 'LARGEST ORG',
    value: ({ largest_org }: Partial<LaneView>) =>
      largest_org === null || largest_org === undefined ? '-' : `${largest_org.org_id} ${largest_org.held}`,
  },
]

const isShared = ({ max_per_org }: Partial<LaneView>): boolean => max_per_org !== null && max_per_org !== undefined

/** `escapement lanes …`: pools of execution slots. */
export function addLanes(group: Command, cli: CliContext): void {
  remote(cli, commandOf(group, 'list', 'list lanes; sizes are per node'), {
    work: async (call) => {
      const page = await call.client.lanes.list()
      const columns = page.items.some(isShared) ? [...LANE_COLUMNS, ...ORG_SHARE_COLUMNS] : LANE_COLUMNS
      await showList(call, page, { columns, none: 'No lanes.' })
    },
  })
  remote(cli, commandOf(group, 'set <name> <size>', 'set the size of a lane on every node (operator only)'), {
    names: { '/concurrency': 'SIZE', '/name': 'NAME' },
    work: async (call, [name = '', size = '']) => {
      const concurrency = number(size, { option: 'SIZE', now: call.now }) as number
      const lane = await call.client.lanes.set(name, { concurrency })
      await showResult(call, lane, `Lane ${lane.name} has ${lane.concurrency} slots on every node.`)
    },
  })
}

/** `escapement nodes list`: the nodes of the deployment. */
export function addNodes(group: Command, cli: CliContext): void {
  const listCommand = group.command('list', { isDefault: true }).description('list server nodes (operator only)')
  remote(cli, listCommand, {
    work: async (call) => {
      await showList(call, await call.client.nodes.list(), { columns: nodeColumns(call), none: 'No nodes.' })
    },
  })
}

const nodeColumns = ({ now, style }: CliCall): readonly Column<NodeView>[] => [
  { title: 'ID', value: ({ id }) => id },
  { title: 'STATE', value: stateOf, paint: (text) => paintState(style, text) },
  { title: 'STARTED', value: ({ started_at }) => relativeTimeText(started_at, now) },
  { title: 'LEASE EXPIRES', value: ({ lease_until }) => relativeTimeText(lease_until, now) },
  { title: 'EXECUTORS', value: ({ executors }) => executors.join(', '), flexible: true },
]

const stateOf = ({ alive, draining }: NodeView): string => (alive ? (draining ? 'draining' : 'alive') : 'gone')
