import { simulate } from '../../src/features/simulation/simulator.ts'
import type { SimulationTask } from '../../src/features/simulation/task.ts'
import type { SimulationView } from '../../src/features/simulation/result-schema.ts'
import type { Database } from '../../src/platform/db/database.ts'
import { drawHistory } from './random-history.ts'
import { live } from './real-history.ts'
import { recordedStory, simulatedStory, type Story } from './stories.ts'

/** What was met in histories: what never happened was not tested. */
export interface Met {
  histories: number
  readonly counts: Map<string, number>
}

export const nothingMet = (): Met => ({ histories: 0, counts: new Map() })

/** A history of which the simulation says something else than the tables. */
class Disagreement extends Error {
  constructor(seed: number, simulated: Story, recorded: Story) {
    super(`Seed ${seed}: the simulation and the tables disagree.\n${sideBySide(simulated, recorded)}
Replay it: ESCAPEMENT_SEED=${seed} npm test agreement`)
    this.name = 'Disagreement'
  }
}

/** A history that has happened for real, and what the tables say of it. */
export interface LivedHistory {
  readonly task: SimulationTask
  readonly recorded: Story
}

/** Lets the history of a seed happen for real. Nothing of it is left in the database but what nobody looks for. */
export async function liveHistory(
  database: Database,
  seed: number,
  wakesInVain = isWokenInVain(seed),
): Promise<LivedHistory> {
  const task = drawHistory(seed)
  const org = await live(database, task, { name: `history_${seed}${wakesInVain ? '_woken' : ''}`, wakesInVain })
  const recorded = await recordedStory(database, org, task)
  await forget(database)
  return { task, recorded }
}

/** Half of the histories: in all, wakes in vain would stand in for those that a node forgets. */
const isWokenInVain = (seed: number): boolean => seed % 4 < 2

/** Lets one history happen twice and compares. Answers with how they differ; null: they agree. */
export async function compareHistory(
  database: Database,
  seed: number,
  met = nothingMet(),
): Promise<Disagreement | null> {
  const { task, recorded } = await liveHistory(database, seed)
  const view = simulate(task)
  met.histories += 1
  note(met, task, view)
  const simulated = simulatedStory(view)
  return isSame(simulated, recorded) ? null : new Disagreement(seed, simulated, recorded)
}

/** Whether both tell the same, to the last word. */
export const isSame = (one: Story, other: Story): boolean => one.join('\n') === other.join('\n')

/** A node looks after every org there is, and the next one has to look after its own alone. */
const forget = (database: Database): Promise<unknown> =>
  database.query(FORGOTTEN.map((table) => `delete from ${table}`).join('; '))

const FORGOTTEN = ['schedule', 'session', 'agent', 'node', 'budget', 'pending', 'org']

function note({ counts }: Met, task: SimulationTask, { rows, ranges }: SimulationView): void {
  const count = (what: string): void => {
    counts.set(what, (counts.get(what) ?? 0) + 1)
  }
  for (const row of rows) {
    count(`status ${row.status}`)
    count(`reason ${row.reason}`)
    count(`trigger ${row.trigger}`)
    for (const { error_code: code } of row.attempts) if (code !== null) count(`error ${code}`)
  }
  for (const _range of ranges) count('range')
  for (const { kind, effect } of task.outages ?? []) count(`outage ${effect ?? kind}`)
  for (const { action } of task.interventions ?? []) count(`intervention ${action}`)
  for (const { on_exceed: action } of task.budgets ?? []) count(`budget ${action}`)
}

function sideBySide(simulated: Story, recorded: Story): string {
  const lines: string[] = []
  for (let index = 0; index < Math.max(simulated.length, recorded.length); index += 1) {
    const [one, other] = [simulated[index], recorded[index]]
    if (one === other) lines.push(`    ${one ?? ''}`)
    else lines.push(`  s ${one ?? '(nothing)'}`, `  t ${other ?? '(nothing)'}`)
  }
  return lines.join('\n')
}
