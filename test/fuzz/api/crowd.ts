import type { LightMyRequestResponse } from 'fastify'
import type { Complaint } from './check.ts'

/** What a request that many send at once has to be told. */
export interface Crowd {
  /** The key that all of them bring along. Undefined: each of them is a request of its own. */
  readonly key: string | undefined
  readonly responses: readonly LightMyRequestResponse[]
  /** How many rows each table had before and has now. */
  readonly before: string
  readonly after: string
}

/** Tables whose rows somebody asked for: each of them is an effect. */
const EFFECTS: ReadonlySet<string> = new Set([
  ...['run', 'pending', 'schedule', 'agent', 'budget', 'target', 'channel', 'member', 'org', 'api_key', 'delivery'],
])

/** What is wrong with how a crowd was answered: with one key there is one effect, and everybody is told the same. */
export function complaintsOfCrowd({ key, responses, before, after }: Crowd): readonly Complaint[] {
  if (key === undefined) return []
  const complaints: Complaint[] = []
  const taken = responses.filter(({ statusCode }) => statusCode < 300)
  const told = new Set(taken.map(({ statusCode, body }) => `${statusCode} ${namesIn(body)}`))
  if (told.size > 1)
    complaints.push({ kind: 'wrong', message: `one key, several answers: ${[...told].join(' and ').slice(0, 500)}` })
  const others = new Set(responses.filter((one) => !taken.includes(one)).map(({ statusCode }) => statusCode))
  if (taken.length > 0 && [...others].some((status) => ![409, 422, 429].includes(status)))
    complaints.push({ kind: 'wrong', message: `one key, taken and refused: ${[...others].join(', ')}` })
  const made = taken.length === responses.length ? effectsOf(before, after, mostOf(taken)) : []
  if (made.length > 0) complaints.push({ kind: 'wrong', message: `one key, several effects: ${made.join(', ')}` })
  return complaints
}

/** A batch makes as many as it names. */
function mostOf([first]: readonly LightMyRequestResponse[]): number {
  const { tasks } = JSON.parse(first?.body ?? '{}') as { readonly tasks?: readonly unknown[] }
  return tasks === undefined ? 1 : tasks.length
}

/** The tables that have grown by more than one request may make. */
function effectsOf(before: string, after: string, most: number): readonly string[] {
  const had = rowsIn(before)
  return [...rowsIn(after)].flatMap(([table, rows]) => {
    const grown = rows - (had.get(table) ?? 0)
    return EFFECTS.has(table) && grown > most ? [`${grown} rows of ${table}`] : []
  })
}

const rowsIn = (look: string): ReadonlyMap<string, number> =>
  new Map(look.split('\n').map((line) => [line.split(' ')[0] ?? '', Number(line.split(' ')[1])]))

/** The names in an answer, by field. What it says besides may be of another moment, and a secret is shown once. */
function namesIn(body: string): string {
  const names: string[] = []
  JSON.parse(body, (field, value: unknown) => {
    if (/^(?:id|\w+_id|taskId|jobRunId)$/.test(field) && typeof value === 'string') names.push(`${field} ${value}`)
    return value
  })
  return names.toSorted().join(', ')
}
