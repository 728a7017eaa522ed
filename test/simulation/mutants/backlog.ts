import { mutant, type Mutant } from './mutant.ts'

/** Mistakes about what is not in memory. */
export const BACKLOG_MUTANTS: readonly Mutant[] = [
  mutant('a count of the backlog drifts', 'memory_is_the_prefix', {
    moveToBacklog: (right) => (org, window) => {
      const before = org.state.backlog.count
      right(org, window)
      const [line] = org.state.changes.lines
      if (org.state.backlog.count > before && line !== undefined) line.count += 1
    },
  }),
  mutant('a newcomer goes to the backlog although it sorts before all that is there', 'memory_is_the_prefix', {
    moveToBacklog: (right) => (org, window) => {
      const bounds = new Map([...org.state.backlog.lines.values()].map((line) => [line, line.bound]))
      right(org, window)
      for (const [line, bound] of bounds) if (line.waiting > 0 && bound !== null) line.bound = bound
    },
  }),
  mutant('/stopall forgets what is not in memory', 'stopped_stays_stopped', {
    stopSession: (right) => (state, key, request) => {
      const answer = right(state, key, request)
      state.clearings.delete(`session ${key}`)
      state.changes.clearings.clear()
      return answer
    },
  }),
  mutant('a session whose last run in memory has ended goes on only with the next message', 'memory_is_the_prefix', {
    createReadyQueue: (right) => (orgId) => {
      const queue = right(orgId)
      return {
        ...queue,
        setBehind: (key) => {
          queue.setBehind(key, { count: 0, from: 0 })
        },
      }
    },
  }),
  mutant('deadlines of runs that are not in memory pass', 'deadlines', {
    loadDue: () => function* () {},
  }),
]
