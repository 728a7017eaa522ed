import type { Client } from '../../client/client.ts'
import { EscapementError } from '../../client/errors.ts'
import type { NodeView } from '../../features/nodes/schema.ts'
import { largest } from '../../domain/long-lists.ts'
import { lengthText } from '../output/times.ts'
import { trouble, well, type Finding, type Subject } from './troubles.ts'
import { lookAtAgents, lookAtAlerts, lookAtLanes } from './work.ts'

/** What the questions to a server begin with. */
export interface Asking {
  readonly client: Client
  /** The version of this command. */
  readonly version: string
  readonly now: number
}

/** A server that hangs is waited for no longer than this. */
export const PATIENCE = { timeoutMs: 5_000 } as const

/** Asks a server that answers how it is. */
export async function lookAtServer(asking: Asking): Promise<readonly Finding[]> {
  const { client } = asking
  const own = [
    ...(await look('version', () => lookAtVersion(asking))),
    ...(await look('ready', () => lookReady(client))),
  ]
  // Without its database it knows nobody, and has nothing to tell.
  if (own.some(({ code }) => code === 'database_away')) return own
  const key = await look('key', () => lookAtKey(client))
  if (key.some(({ state }) => state === 'bad')) return [...own, ...key]
  return [
    ...own,
    ...key,
    ...(await look('nodes', () => lookAtNodes(asking))),
    ...(await look('lanes', () => lookAtLanes(client))),
    ...(await look('agents', () => lookAtAgents(client))),
    ...(await look('alerts', () => lookAtAlerts(client))),
  ]
}

async function look(what: Subject, work: () => Promise<readonly Finding[]>): Promise<readonly Finding[]> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof EscapementError)) throw error
    // Somebody who may not look is not ill.
    if (error.code === 'FORBIDDEN') return [well(what, 'not to be seen with this key')]
    if (error.code === 'UNAUTHENTICATED') return [trouble('key_refused', error.message)]
    if (error.code === 'DATABASE_AWAY') return [trouble('database_away', error.message)]
    return [trouble('server_silent', `${what}: ${error.message}`)]
  }
}

async function lookAtVersion({ client, version: own }: Asking): Promise<readonly Finding[]> {
  const { version } = await client.probes.version(PATIENCE)
  return version === own
    ? [well('version', version)]
    : [trouble('version_differs', `the server is ${version}, this command is ${own}`)]
}

async function lookReady(client: Client): Promise<readonly Finding[]> {
  const { ready, database, away_since, engine, draining, node_id } = await client.probes.ready(PATIENCE)
  if (database === 'away') return [trouble('database_away', `node ${node_id} is without it since ${away_since ?? '?'}`)]
  if (draining) return [trouble('node_draining', `node ${node_id} goes down`)]
  if (engine === 'stalled') return [trouble('node_stalled', `node ${node_id} does not look for what is due`)]
  if (!ready) return [trouble('node_draining', `node ${node_id} has not started yet, or goes down`)]
  return [well('ready', `database ${database}`)]
}

async function lookAtKey(client: Client): Promise<readonly Finding[]> {
  const { role, org, permissions } = await client.auth.me(PATIENCE)
  return [well('key', `${role} of ${org.id}, ${permissions.length} permissions`)]
}

/** Clocks that differ by more make "now" mean two things: a lease or a schedule looks late that is not. */
const CLOCK_SLACK_MS = 60_000

/** A node that is alive looks at least so often, whatever its settings, or it hangs. */
async function lookAtNodes({ client, now }: Asking): Promise<readonly Finding[]> {
  const { items } = await client.nodes.list(PATIENCE)
  const alive = items.filter((node) => node.alive)
  if (alive.length === 0) return [trouble('node_none', 'no node is alive')]
  const stalled = await client.alerts.list({ status: 'open', kind: 'engine_stalled' }, PATIENCE)
  return [
    ...(stalled.items.length > 0
      ? stalled.items.map(({ sentence, subject_id }) => trouble('node_stalled', `node ${subject_id}: ${sentence}`))
      : [countNodes(items)]),
    ...lookAtClock(
      alive.flatMap(({ scanned_at }) => (scanned_at === null ? [] : [Date.parse(scanned_at)])),
      now,
    ),
  ]
}

/** A node that says goodbye is forgotten at once; one that was lost, after an hour. */
function countNodes(items: readonly NodeView[]): Finding {
  const alive = items.filter((node) => node.alive)
  const gone = items.filter((node) => !node.alive)
  const drains = alive.some(({ draining }) => draining) ? ', some draining' : ''
  const counted = `${alive.length} alive${drains}`
  return gone.length === 0
    ? well('nodes', counted)
    : trouble('node_gone', `${counted}, ${gone.length} gone: ${gone.map(({ id }) => id).join(', ')}`)
}

/** Nodes write down when they looked, by the clock of the database: about now. */
function lookAtClock(scans: readonly number[], now: number): readonly Finding[] {
  if (scans.length === 0) return []
  const ahead = now - largest(scans)
  if (Math.abs(ahead) <= CLOCK_SLACK_MS) return [well('clock', 'agrees with the database')]
  const how = `${lengthText(Math.abs(ahead))} ${ahead > 0 ? 'ahead of' : 'behind'}`
  return [trouble('clock_differs', `the clock of this machine is ${how} the database`)]
}
