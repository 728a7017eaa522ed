import { MOST_SLOTS } from '../platform/config/engine-keys.ts'
import { invalid } from '../api/refusals.ts'
import type { LaneName } from '../domain/ids.ts'
import { parseInteger } from '../domain/input.ts'
import { isLaneName, meantLane, type LaneSizes } from '../domain/queue/lanes.ts'
import { insertLane, loadLanes, loadLanesAndOrgs, saveLane, type LaneRow } from '../features/lanes/store.ts'
import { actorOf, changed, created } from '../features/audit/entry.ts'
import type { Caller } from './caller.ts'
import type { Desk } from './desk/desk.ts'
import { collectFlaws, textField } from '../domain/input-fields.ts'
import type { Ports } from './ports.ts'

type Reading = Pick<Ports, 'database' | 'settings'>

/** The sizes of the lanes: what was set for every node stands above what this node was started with. */
export async function readLaneSizes({ database, settings }: Reading): Promise<LaneSizes> {
  return sizesOf(settings, await loadLanes(database))
}

/** What holds for the lanes of every node. */
export interface LaneRules {
  readonly sizes: LaneSizes
  /** Whether the deployment has more than one org, so that none of them may hold a whole lane. */
  readonly hasManyOrgs: boolean
}

/** Reads it all at once, as nodes do at every look. */
export async function readLaneRules({ database, settings }: Reading): Promise<LaneRules> {
  const { lanes, hasManyOrgs } = await loadLanesAndOrgs(database)
  return { sizes: sizesOf(settings, lanes), hasManyOrgs }
}

function sizesOf(settings: Reading['settings'], stored: readonly LaneRow[]): LaneSizes {
  return new Map([
    ...settings().lanes.byName,
    ...stored.flatMap(({ name, concurrency }): [LaneName, number][] => (isLaneName(name) ? [[name, concurrency]] : [])),
  ])
}

type SizedLane = Pick<LaneRow, 'name' | 'concurrency'>

/**
 * Sets the size of a lane for every node. Shrinking kills nothing; it only lets nothing new in. Lanes belong to the
 * deployment; who set one is on record in the org of whoever did.
 */
export async function setLane(
  ports: Ports,
  caller: Caller,
  lane: { readonly name: string; readonly concurrency: number },
): Promise<LaneRow> {
  const wanted = readLane(lane)
  return ports.turns.take({
    orgId: caller.orgId,
    prepare: async (tx, now) => {
      const before = (await readLaneSizes({ database: tx, settings: ports.settings })).get(wanted.name)
      const row: LaneRow = { ...wanted, updatedAt: now }
      await saveLane(tx, row)
      return { row, before }
    },
    apply: (desk, prepared) => {
      const { row, before } = prepared as { readonly row: LaneRow; readonly before: number | undefined }
      tell(desk, caller, { before, after: row })
      return row
    },
  })
}

/** Makes a lane unless there is one, which then keeps its size. Answers with the size it has. */
export async function getOrCreateLane(
  ports: Ports,
  caller: Caller,
  lane: { readonly name: string; readonly concurrency: number },
): Promise<SizedLane> {
  const wanted = readLane(lane)
  const { database, settings } = ports
  const known = (await readLaneSizes({ database, settings })).get(wanted.name)
  if (known !== undefined) return { name: wanted.name, concurrency: known }
  return ports.turns.take({
    orgId: caller.orgId,
    prepare: async (tx, now) => {
      if (await insertLane(tx, { ...wanted, updatedAt: now })) return null
      // Somebody was faster, and theirs counts.
      return (await readLaneSizes({ database: tx, settings })).get(wanted.name) ?? wanted.concurrency
    },
    apply: (desk, prepared) => {
      const raced = prepared as number | null
      if (raced !== null) return { name: wanted.name, concurrency: raced }
      tell(desk, caller, { before: undefined, after: wanted })
      return wanted
    },
  })
}

function tell(
  desk: Desk,
  caller: Caller,
  { before, after }: { readonly before: number | undefined; readonly after: SizedLane },
): void {
  const { name, concurrency } = after
  const object = { kind: 'lane', id: name } as const
  const actor = actorOf(caller)
  desk.changes.audits.push(
    before === undefined
      ? created(actor, object, { concurrency })
      : changed(actor, object, { before: { concurrency: before }, after: { concurrency } }),
  )
  desk.changes.events.push({ kind: 'lane.changed', subject: name, data: { concurrency } })
}

function readLane(lane: {
  readonly name: string
  readonly concurrency: number
}): Pick<LaneRow, 'name' | 'concurrency'> {
  const { flaws, keep } = collectFlaws()
  const name = keep(textField({ min: 1, max: 100 })('name', lane.name))
  const concurrency = keep(parseInteger('concurrency', lane.concurrency, { min: 1, max: MOST_SLOTS }))
  if (name !== null && !isLaneName(name))
    throw invalid([{ field: 'name', value: name, message: 'is a setting of all lanes and cannot name one' }])
  if (name === null || concurrency === null) throw invalid(flaws)
  return { name: meantLane(name), concurrency }
}
