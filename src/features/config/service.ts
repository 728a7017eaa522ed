import { CONFIG_KEYS, isLaneSize } from '../../platform/config/keys.ts'
import { keyAt, readChange, type Layer, type ReadLayer } from '../../platform/config/tree.ts'
import type { ConfigPatch, ConfigView } from '../../platform/config/view.ts'
import { invalid } from '../../api/refusals.ts'
import { OPERATOR_ORG } from '../../domain/access/access.ts'
import { laneName } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Connection, Transaction } from '../../platform/db/database.ts'
import { deleteLanes, loadLanes, saveLane } from '../lanes/store.ts'
import { deleteSettings, loadSettings, saveSettings } from './store.ts'
import { actorOf, changed, SYSTEM_ACTOR } from '../audit/entry.ts'
import type { Caller } from '../access/caller.ts'
import type { Ports } from '../../engine/ports.ts'

/** The configuration of this node. */
export interface ConfigPort {
  readonly view: () => ConfigView
  /** Reloads the settings stored for all nodes. */
  readonly refresh: () => Promise<void>
}

const LANES = 'lanes.'

/** All stored settings by path. Those that this release does not know or allow are listed as unreadable. */
export async function loadStoredSettings(
  connection: Connection,
): Promise<{ readonly layer: Layer; readonly unreadable: readonly string[] }> {
  const layer = new Map<string, unknown>()
  const unreadable: string[] = []
  for (const { path, value } of await loadSettings(connection)) {
    const read = keyAt(CONFIG_KEYS, path)?.parse(path, value)
    if (read?.ok === true) layer.set(path, read.value)
    else unreadable.push(path)
  }
  for (const { name, concurrency } of await loadLanes(connection))
    if (isLaneSize(LANES + name)) layer.set(LANES + name, concurrency)
  return { layer, unreadable }
}

/**
 * Changes settings of all nodes at runtime, completely or not at all. 0 leaves a setting unchanged where it would stop
 * everything; null removes a stored value, so that the file, environment or default applies again. Returns the configuration
 * of this node; other nodes follow within a second.
 */
export async function updateConfig(
  ports: Pick<Ports, 'commands'> & { readonly config: ConfigPort },
  caller: Caller,
  patch: ConfigPatch,
): Promise<ConfigView> {
  const wanted = readChange(CONFIG_KEYS, patch)
  if (!wanted.ok) throw invalid(wanted.flaws)
  const shown = ports.config.view().values
  await ports.commands.execute({
    orgId: caller.orgId,
    prepare: (tx, now) => storeSettings(tx, wanted.value, { now, by: actorOf(caller) }),
    apply: (state, prepared) => {
      const { before, after } = prepared as StoredDifference
      const paths = [...new Set([...before.keys(), ...after.keys()])]
      if (paths.length === 0) return
      const as = (of: Layer): Record<string, unknown> =>
        Object.fromEntries(paths.map((path) => [path, of.get(path) ?? null]))
      state.changes.audits.push(
        changed(actorOf(caller), { kind: 'config', id: 'deployment' }, { before: as(before), after: as(after) }),
      )
      const changes = paths.map((path) => [path, { from: shown[path]?.value ?? null, to: after.get(path) ?? null }])
      const data = { source: 'stored', changed: Object.fromEntries(changes) as Record<string, unknown> }
      state.changes.events.push({ kind: 'config.reloaded', subject: 'deployment', data })
    },
  })
  await ports.config.refresh()
  return ports.config.view()
}

/** The stored values that a change modifies. */
interface StoredDifference {
  readonly before: Layer
  readonly after: Layer
}

async function storeSettings(
  tx: Transaction,
  { values, removed: forgotten }: ReadLayer,
  { now, by }: { readonly now: Instant; readonly by: string },
): Promise<StoredDifference> {
  const { layer } = await loadStoredSettings(tx)
  const set = [...values].filter(([path, value]) => JSON.stringify(layer.get(path)) !== JSON.stringify(value))
  const gone = forgotten.filter((path) => layer.has(path))
  const touched = [...set.map(([path]) => path), ...gone]
  const settings = new Map(set.filter(([path]) => !isLaneSize(path)))
  if (settings.size > 0) await saveSettings(tx, { values: settings, at: now, by })
  if (gone.length > 0) {
    await deleteSettings(tx, gone)
    await deleteLanes(
      tx,
      gone.filter(isLaneSize).map((path) => path.slice(LANES.length)),
    )
  }
  for (const [path, size] of set.filter(([one]) => isLaneSize(one)))
    await saveLane(tx, { name: laneName(path.slice(LANES.length)), concurrency: size as number, updatedAt: now })
  return {
    before: new Map(touched.flatMap((path) => (layer.has(path) ? [[path, layer.get(path)]] : []))),
    after: new Map(set),
  }
}

/** Records the changes after a node reloaded its configuration file, and notifies clients. */
export async function recordReload(
  ports: Pick<Ports, 'commands'>,
  reload: {
    readonly nodeId: string
    readonly changed: Readonly<Record<string, { readonly from: unknown; readonly to: unknown }>>
    readonly restart: readonly string[]
  },
): Promise<void> {
  const { nodeId, changed: changes, restart } = reload
  const pick = (which: 'from' | 'to'): Record<string, unknown> =>
    Object.fromEntries(Object.entries(changes).map(([path, change]) => [path, change[which]]))
  await ports.commands.execute({
    orgId: OPERATOR_ORG,
    apply: (state) => {
      const object = { kind: 'config', id: nodeId } as const
      state.changes.audits.push(
        changed(SYSTEM_ACTOR, object, { before: pick('from'), after: pick('to'), verb: 'reload' }),
      )
      const data = { source: 'file', changed: changes, needs_restart: restart }
      state.changes.events.push({ kind: 'config.reloaded', subject: nodeId, data })
    },
  })
}
