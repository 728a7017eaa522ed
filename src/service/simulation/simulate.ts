import type { SimulationView } from '../../contract/simulation.ts'
import type { SimulationTask } from './task.ts'
import { makeFirstRuns } from './first-runs.ts'
import { passWindow, type Control } from './loop.ts'
import { readTask } from './read-task.ts'
import { viewWorld } from './view.ts'
import { createWorld } from './world.ts'

/**
 * What would happen in a window of time. It is decided by the functions that decide in a node, on a desk of their own:
 * there is no clock, no database and no chance but the seed. The same task gives the same answer. Throws a refusal that
 * says what is wrong with the task.
 */
export function simulate(task: SimulationTask, control: Control = {}): SimulationView {
  const world = createWorld(readTask(task))
  makeFirstRuns(world)
  passWindow(world, control)
  return viewWorld(world)
}
