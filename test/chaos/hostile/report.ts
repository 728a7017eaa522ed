import type { Tally } from './attacker-process.ts'
import type { AgentHost } from './agents.ts'
import type { Journal } from './victim.ts'

/** What is known at the end. */
export interface Hostility {
  readonly tally: Tally
  readonly journal: Journal
  readonly agents: Pick<AgentHost, 'begun' | 'late'>
  /** States of the runs of the quiet org, and how many attempts they took beyond their first. */
  readonly runs: Readonly<Record<string, number>>
  readonly repeated: number
  readonly crashes: readonly string[]
  /** 99 % of all starts of the quiet org have to be less late than this. */
  readonly maxP99Ms: number
}

const percentile = (values: readonly number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0

/** The report, line by line, and whether all is well. The last line is the verdict. */
export function describeHostility(found: Hostility): { readonly lines: readonly string[]; readonly well: boolean } {
  const { journal, agents, runs, tally } = found
  const delays = [...journal.sent].flatMap(([mark, at]) => {
    const [first] = agents.begun.get(mark) ?? []
    return first === undefined ? [] : [first - at]
  })
  const lost = [...journal.sent.keys()].filter((mark) => !agents.begun.has(mark)).length - journal.refused.length
  const doubled = [...agents.begun.values()].filter((times) => times.length > 1).length
  const failed = Object.entries(runs).reduce((sum, [state, count]) => sum + (state === 'success' ? 0 : count), 0)
  const p99 = Math.max(percentile(delays, 0.99), percentile(agents.late, 0.99))
  const isLate = p99 >= found.maxP99Ms ? 1 : 0
  const counts = {
    ...{ lost: Math.max(0, lost), doubled, failed, repeated: found.repeated, refused: journal.refused.length },
    ...{ 'p99 exceeded': isLate, crashes: found.crashes.length },
  }
  const verdict = Object.entries(counts).map(([name, count]) => `${count} ${name}`)
  return {
    well: Object.values(counts).every((count) => count === 0) && delays.length > 0 && agents.late.length > 0,
    lines: [
      ...attacksOf(tally),
      `slowest attack: ${Math.round(tally.slowestMs)} ms`,
      ...journal.refused.slice(0, 10).map((why) => `refused: ${why}`),
      ...found.crashes.map((why) => `a node ended: ${why}`),
      `${delays.length} messages of the other org began ${delaysOf(delays)} after they were sent`,
      `${agents.late.length} occurrences of it began ${delaysOf(agents.late)} late`,
      `its ${journal.answerMs.length} requests took ${delaysOf(journal.answerMs)}`,
      verdict.join(', '),
    ],
  }
}

const attacksOf = ({ answers }: Tally): readonly string[] =>
  Object.entries(answers)
    .sort(([a], [b]) => a.localeCompare(b))
    .map(
      ([name, statuses]) =>
        `${name}: ${Object.entries(statuses)
          .map(([status, count]) => `${status} ×${count}`)
          .join(', ')}`,
    )

const delaysOf = (values: readonly number[]): string =>
  `p50 ${percentile(values, 0.5)} ms, p99 ${percentile(values, 0.99)} ms, max ${percentile(values, 1)} ms`
