import { invalid } from '../../contract/refusals.ts'
import type { SimulateAnswer, SimulateInput } from '../../contract/simulate.ts'
import type { Caller } from '../caller.ts'
import type { Ports } from '../ports.ts'
import { computeSimulation } from './compute.ts'
import { gather } from './gather.ts'
import { parseSimulate } from './input.ts'
import type { SimulationListening } from './port.ts'

/**
 * What would happen: schedules as they would be created, and stored ones, over a window, under assumptions. Nothing is
 * kept, and nothing waits for it.
 */
export async function simulateSchedules(
  ports: Ports,
  caller: Caller,
  { input, ...listening }: SimulationListening & { readonly input: SimulateInput },
): Promise<SimulateAnswer> {
  const read = parseSimulate(input, ports.clock.now())
  if (!read.ok) throw invalid(read.flaws)
  const { task, basis } = await gather(ports, caller, read.value)
  listening.signal?.throwIfAborted()
  const job = { task, against: read.value.against }
  const { view, against, diff } =
    ports.simulations === undefined
      ? computeSimulation(job, listening)
      : await ports.simulations.compute(caller.orgId, job, listening)
  return { ...view, basis, against, diff }
}
