import type { App } from '../app.ts'
import type { Attempt } from '../executors/executor.ts'

const MOST_REMEMBERED = 10_000

/**
 * What is asked about the agent of every attempt and changes hardly ever: remembered until something is said about
 * agents.
 */
export function rememberOfAgents<T>(
  { parts }: Pick<App, 'parts'>,
  find: (attempt: Attempt) => Promise<T | null>,
): (attempt: Attempt) => Promise<T | null> {
  const known = new Map<string, Promise<T | null>>()
  parts.hearers.add((_, { events }) => {
    for (const [kind] of events) if (kind === 'agent.changed') known.clear()
  })
  return (attempt) => {
    const key = `${attempt.orgId} ${attempt.agentId}`
    const found = known.get(key)
    if (found !== undefined) return found
    if (known.size >= MOST_REMEMBERED) known.clear()
    const asked = find(attempt)
    known.set(key, asked)
    // What went wrong is not remembered, and neither is who is missing: both may be otherwise in a moment.
    void asked.then(
      (options) => (options === null ? known.delete(key) : null),
      () => known.delete(key),
    )
    return asked
  }
}
