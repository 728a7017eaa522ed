import { invalid, Refusal } from '../../contract/refusals.ts'
import { compareSimulations } from '../simulation/compare.ts'
import { readTask } from '../simulation/read-task.ts'
import { simulate } from '../simulation/simulate.ts'
import type { SimulationJob, SimulationListening, SimulationOutcome } from './port.ts'

/** Computes a job from its beginning to its end, in the thread of whoever asks. */
export function computeSimulation(
  { task, against }: SimulationJob,
  { progress, signal }: SimulationListening = {},
): SimulationOutcome {
  const whole = Date.parse(task.to) - Date.parse(task.from)
  const total = against === null ? whole : 2 * whole
  const control = (before: number) => ({
    progress: (done: number) => progress?.({ done: before + done, total }),
    ...(signal === undefined ? {} : { signal }),
  })
  const other = { ...task, changes: against ?? [] }
  // What is wrong with the second is told before the first is computed.
  if (against !== null) named('against', () => readTask(other))
  const view = named('changes', () => simulate(task, control(0)))
  const compared = against === null ? null : simulate(other, control(whole))
  progress?.({ done: total, total })
  return { view, against: compared, diff: compared === null ? null : compareSimulations(view, compared) }
}

/** Tells what is wrong under the name under which it was given. */
function named<T>(changes: 'changes' | 'against', compute: () => T): T {
  try {
    return compute()
  } catch (error) {
    if (!(error instanceof Refusal) || error.flaws.length === 0) throw error
    throw invalid(
      error.flaws.map((flaw) => ({
        ...flaw,
        field: flaw.field.replaceAll(/\[(\d+)\]/g, '.$1').replace(/^changes\b/, changes),
      })),
    )
  }
}
