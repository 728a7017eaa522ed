import { invalid, Refusal } from '../../api/refusals.ts'
import type { SimulatedRunView, SimulationChange, SimulationDiff, SimulationView } from './result-schema.ts'
import { parseSimulationTask } from './read-task.ts'
import { simulate } from './simulator.ts'
import type { SimulationJob, SimulationCallbacks, SimulationOutcome } from './port.ts'

/** Computes a job synchronously, in the calling thread. */
export function computeSimulation(
  { task, against }: SimulationJob,
  { progress, signal }: SimulationCallbacks = {},
): SimulationOutcome {
  const windowMs = Date.parse(task.to) - Date.parse(task.from)
  const total = against === null ? windowMs : 2 * windowMs
  const control = (before: number) => ({
    progress: (done: number) => progress?.({ done: before + done, total }),
    ...(signal === undefined ? {} : { signal }),
  })
  const other = { ...task, changes: against ?? [] }
  // Flaws in the second task are reported before the first one is computed.
  if (against !== null) withFieldNames('against', () => parseSimulationTask(other))
  const view = withFieldNames('changes', () => simulate(task, control(0)))
  const compared = against === null ? null : simulate(other, control(windowMs))
  progress?.({ done: total, total })
  return { view, against: compared, diff: compared === null ? null : compareSimulations(view, compared) }
}

/** Reports flaws under the field name that the client used. */
function withFieldNames<T>(changes: 'changes' | 'against', compute: () => T): T {
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

/** Compares two simulations of the same window by occurrence. Manual runs are not compared. */
export function compareSimulations(before: SimulationView, after: SimulationView): SimulationDiff {
  const runsBefore = byOccurrence(before)
  const runsAfter = byOccurrence(after)
  const changes: SimulationChange[] = []
  let unchanged = 0
  for (const [name, run] of runsBefore) {
    const other = runsAfter.get(name) ?? null
    const kind = other === null ? 'only_before' : changeKind(run, other)
    if (kind === null) unchanged += 1
    else changes.push(occurrenceChange(kind, run, other))
  }
  for (const [name, run] of runsAfter)
    if (!runsBefore.has(name)) changes.push(occurrenceChange('only_after', null, run))
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

function changeKind(before: SimulatedRunView, after: SimulatedRunView): 'status' | 'timing' | null {
  if (before.status !== after.status || before.decision.reason !== after.decision.reason) return 'status'
  const isSame =
    before.started_at === after.started_at &&
    before.finished_at === after.finished_at &&
    before.first_attempt === after.first_attempt &&
    before.attempt === after.attempt &&
    before.reason === after.reason
  return isSame ? null : 'timing'
}

const occurrenceChange = (
  kind: SimulationChange['kind'],
  before: SimulatedRunView | null,
  after: SimulatedRunView | null,
): SimulationChange => {
  const run = before ?? after
  return { kind, before, after, schedule_id: run?.schedule_id ?? '', nominal_time: run?.nominal_time ?? '' }
}
