import { MOST_SLOTS } from '../contract/config/engine-keys.ts'
import { invalid } from '../contract/refusals.ts'
import type { LaneName } from '../core/ids.ts'
import { parseInteger } from '../core/input.ts'
import { meantLane, type LaneSizes } from '../core/lanes.ts'
import { insertLane, loadLanes, saveLane, type LaneRow } from '../store/lanes.ts'
import { collectFlaws, textField } from './input-fields.ts'
import type { Ports } from './ports.ts'

type Reading = Pick<Ports, 'database' | 'settings'>

/** The sizes of the lanes: what was set for every node stands above what this node was started with. */
export async function readLaneSizes({ database, settings }: Reading): Promise<LaneSizes> {
  const stored = await loadLanes(database)
  return new Map([
    ...settings().lanes,
    ...stored.map(({ name, concurrency }): [LaneName, number] => [name, concurrency]),
  ])
}

/** Sets the size of a lane for every node. Shrinking kills nothing; it only lets nothing new in. */
export async function setLane(
  { database, clock }: Pick<Ports, 'database' | 'clock'>,
  lane: { readonly name: string; readonly concurrency: number },
): Promise<LaneRow> {
  const row = { ...readLane(lane), updatedAt: clock.now() }
  await saveLane(database, row)
  return row
}

/** Makes a lane unless there is one, which then keeps its size. Answers with the size it has. */
export async function getOrCreateLane(
  { database, settings, clock }: Pick<Ports, 'database' | 'settings' | 'clock'>,
  lane: { readonly name: string; readonly concurrency: number },
): Promise<Pick<LaneRow, 'name' | 'concurrency'>> {
  const wanted = readLane(lane)
  const known = (await readLaneSizes({ database, settings })).get(wanted.name)
  if (known !== undefined) return { name: wanted.name, concurrency: known }
  if (await insertLane(database, { ...wanted, updatedAt: clock.now() })) return wanted
  const raced = (await readLaneSizes({ database, settings })).get(wanted.name)
  return { name: wanted.name, concurrency: raced ?? wanted.concurrency }
}

function readLane(lane: {
  readonly name: string
  readonly concurrency: number
}): Pick<LaneRow, 'name' | 'concurrency'> {
  const { flaws, keep } = collectFlaws()
  const name = keep(textField({ min: 1, max: 100 })('name', lane.name))
  const concurrency = keep(parseInteger('concurrency', lane.concurrency, { min: 1, max: MOST_SLOTS }))
  if (name === null || concurrency === null) throw invalid(flaws)
  return { name: meantLane(name), concurrency }
}
