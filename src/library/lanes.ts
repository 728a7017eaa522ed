import type { LaneView } from '../contract/lane.ts'
import { laneName } from '../core/ids.ts'
import { resolveLane } from '../core/lanes.ts'
import type { Escapement, Settings } from '../escapement.ts'
import { viewOrgShare } from '../engine/org-limits.ts'
import { getOrCreateLane, setLane } from '../service/lanes.ts'
import { findNodes } from '../service/nodes.ts'
import type { Running } from './running.ts'

/** The lanes of this node. */
export function lanesOf(running: () => Running, reload: (change: Settings) => void): Escapement['lanes'] {
  const apply = (name: string, concurrency: number): LaneView => {
    reload({ lanes: { [name]: concurrency } })
    return viewLane(running(), name)
  }
  return {
    list: async () => {
      const now = await Promise.resolve(running())
      return [...now.app.parts.lanes.sizes().keys()].map((name) => viewLane(now, name))
    },
    set: async (name, concurrency) => {
      const lane = await setLane(running().app.ports, running().caller, { name, concurrency })
      return apply(lane.name, lane.concurrency)
    },
    getOrCreate: async (name, concurrency) => {
      const lane = await getOrCreateLane(running().app.ports, running().caller, { name, concurrency })
      return apply(lane.name, lane.concurrency)
    },
  }
}

function viewLane({ app }: Running, name: string): LaneView {
  const { lanes, offices } = app.parts
  const lane = resolveLane(laneName(name), lanes.sizes())
  let pending = 0
  for (const office of offices.values()) pending += office.memory()?.lineUp.queuedIn(lane) ?? 0
  const concurrency = lanes.sizes().get(lane) ?? 0
  return {
    ...{ name: lane, concurrency, active: lanes.heldIn(lane), pending },
    ...viewOrgShare(lanes, { name: lane, size: concurrency }, null),
  }
}

/** The nodes of the deployment. */
export const nodesOf = (running: () => Running): Escapement['nodes'] => ({
  list: async () => findNodes(running().app.ports),
})
