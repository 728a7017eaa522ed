import { invalid } from '../../api/refusals.ts'
import type { SimulateAnswer, SimulateInput } from '../../features/simulation/schema.ts'
import type { Caller } from '../caller.ts'
import type { Ports } from '../ports.ts'
import { computeSimulation } from '../../features/simulation/compute.ts'
import { gather } from '../../features/simulation/service.ts'
import { parseSimulate } from '../../features/simulation/input.ts'
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
