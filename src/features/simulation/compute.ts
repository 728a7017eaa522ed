import { invalid, Refusal } from '../../api/refusals.ts'
import type { SimulatedRunView, SimulationChange, SimulationDiff, SimulationView } from './result-schema.ts'
import { readTask } from '../../service/simulation/read-task.ts'
import { simulate } from '../../service/simulation/simulate.ts'
import type { SimulationJob, SimulationListening, SimulationOutcome } from '../../service/simulate/port.ts'

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

/** What other policies make of the occurrences of the same window. Runs that people asked for are not compared. */
export function compareSimulations(before: SimulationView, after: SimulationView): SimulationDiff {
  const then = byOccurrence(before)
  const now = byOccurrence(after)
  const changes: SimulationChange[] = []
  let unchanged = 0
  for (const [name, run] of then) {
    const other = now.get(name) ?? null
    const kind = other === null ? 'only_before' : kindOf(run, other)
    if (kind === null) unchanged += 1
    else changes.push(changeOf(kind, run, other))
  }
  for (const [name, run] of now) if (!then.has(name)) changes.push(changeOf('only_after', null, run))
  changes.sort((a, b) => (a.nominal_time < b.nominal_time ? -1 : a.nominal_time > b.nominal_time ? 1 : 0))
  return {
    changes,
    changed: changes.length,
    unchanged,
    truncated: before.truncated || after.truncated,
    before: before.totals,
    after: after.totals,
  }
}

function byOccurrence({ rows }: SimulationView): ReadonlyMap<string, SimulatedRunView> {
  const found = new Map<string, SimulatedRunView>()
  for (const row of rows) if (row.nominal_time !== null) found.set(`${row.schedule_id} ${row.nominal_time}`, row)
  return found
}

function kindOf(before: SimulatedRunView, after: SimulatedRunView): 'status' | 'timing' | null {
  if (before.status !== after.status || before.decision.reason !== after.decision.reason) return 'status'
  const isSame =
    before.started_at === after.started_at &&
    before.finished_at === after.finished_at &&
    before.first_attempt === after.first_attempt &&
    before.attempt === after.attempt &&
    before.reason === after.reason
  return isSame ? null : 'timing'
}

const changeOf = (
  kind: SimulationChange['kind'],
  before: SimulatedRunView | null,
  after: SimulatedRunView | null,
): SimulationChange => {
  const run = before ?? after
  return { kind, before, after, schedule_id: run?.schedule_id ?? '', nominal_time: run?.nominal_time ?? '' }
}
