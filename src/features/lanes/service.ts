import { MAX_LANE_SLOTS } from '../../platform/config/engine-keys.ts'
import { invalid } from '../../api/refusals.ts'
import type { LaneName } from '../../domain/ids.ts'
import { parseInteger } from '../../domain/input.ts'
import { isLaneName, resolveLaneAlias, type LaneSizes } from '../../domain/queue/lanes.ts'
import { insertLane, loadLanes, loadLanesAndOrgs, saveLane, type LaneRow } from './store.ts'
import { actorOf, changed, created } from '../audit/entry.ts'
import type { Caller } from '../access/caller.ts'
import type { OrgState } from '../../engine/org-state/org-state.ts'
import { collectFlaws, textField } from '../../domain/input-fields.ts'
import type { Ports } from '../../engine/ports.ts'

type LaneReadPorts = Pick<Ports, 'database' | 'settings'>

/** Reads the sizes of the lanes: a size stored for all nodes overrides the configuration of this node. */
export async function loadLaneSizes({ database, settings }: LaneReadPorts): Promise<LaneSizes> {
  return mergeLaneSizes(settings, await loadLanes(database))
}

/** The rules for lanes that are the same on every node. */
export interface LaneRules {
  readonly sizes: LaneSizes
  /** Whether the deployment has more than one org, so that no org may hold a whole lane. */
  readonly hasManyOrgs: boolean
}

/** Reads the rules in one statement, because nodes do it at every scan. */
export async function loadLaneRules({ database, settings }: LaneReadPorts): Promise<LaneRules> {
  const { lanes, hasManyOrgs } = await loadLanesAndOrgs(database)
  return { sizes: mergeLaneSizes(settings, lanes), hasManyOrgs }
}

function mergeLaneSizes(settings: LaneReadPorts['settings'], stored: readonly LaneRow[]): LaneSizes {
  return new Map([
    ...settings().lanes.byName,
    ...stored.flatMap(({ name, concurrency }): [LaneName, number][] => (isLaneName(name) ? [[name, concurrency]] : [])),
  ])
}

type SizedLane = Pick<LaneRow, 'name' | 'concurrency'>

/**
 * Sets the size of a lane for every node. A smaller size stops no run; it only admits fewer. Lanes belong to the
 * deployment, and the change is audited in the org of the caller.
 */
export async function setLane(
  ports: Ports,
  caller: Caller,
  lane: { readonly name: string; readonly concurrency: number },
): Promise<LaneRow> {
  const requested = parseLane(lane)
  return ports.commands.execute({
    orgId: caller.orgId,
    prepare: async (tx, now) => {
      const before = (await loadLaneSizes({ database: tx, settings: ports.settings })).get(requested.name)
      const row: LaneRow = { ...requested, updatedAt: now }
      await saveLane(tx, row)
      return { row, before }
    },
    apply: (state, prepared) => {
      const { row, before } = prepared as { readonly row: LaneRow; readonly before: number | undefined }
      recordLaneChange(state, caller, { before, after: row })
      return row
    },
  })
}

/** Returns a lane, and creates it with the given size if it does not exist. */
export async function getOrCreateLane(
  ports: Ports,
  caller: Caller,
  lane: { readonly name: string; readonly concurrency: number },
): Promise<SizedLane> {
  const requested = parseLane(lane)
  const { database, settings } = ports
  const existing = (await loadLaneSizes({ database, settings })).get(requested.name)
  if (existing !== undefined) return { name: requested.name, concurrency: existing }
  return ports.commands.execute({
    orgId: caller.orgId,
    prepare: async (tx, now) => {
      if (await insertLane(tx, { ...requested, updatedAt: now })) return null
      // A concurrent request created the lane first, and its size is kept.
      return (await loadLaneSizes({ database: tx, settings })).get(requested.name) ?? requested.concurrency
    },
    apply: (state, prepared) => {
      const existingSize = prepared as number | null
      if (existingSize !== null) return { name: requested.name, concurrency: existingSize }
      recordLaneChange(state, caller, { before: undefined, after: requested })
      return requested
    },
  })
}

function recordLaneChange(
  state: OrgState,
  caller: Caller,
  { before, after }: { readonly before: number | undefined; readonly after: SizedLane },
): void {
  const { name, concurrency } = after
  const object = { kind: 'lane', id: name } as const
  const actor = actorOf(caller)
  state.changes.audits.push(
    before === undefined
      ? created(actor, object, { concurrency })
      : changed(actor, object, { before: { concurrency: before }, after: { concurrency } }),
  )
  state.changes.events.push({ kind: 'lane.changed', subject: name, data: { concurrency } })
}

function parseLane(lane: {
  readonly name: string
  readonly concurrency: number
}): Pick<LaneRow, 'name' | 'concurrency'> {
  const { flaws, keep } = collectFlaws()
  const name = keep(textField({ min: 1, max: 100 })('name', lane.name))
  const concurrency = keep(parseInteger('concurrency', lane.concurrency, { min: 1, max: MAX_LANE_SLOTS }))
  if (name !== null && !isLaneName(name))
    throw invalid([{ field: 'name', value: name, message: 'is a setting of all lanes and cannot be a lane name' }])
  if (name === null || concurrency === null) throw invalid(flaws)
  return { name: resolveLaneAlias(name), concurrency }
}
