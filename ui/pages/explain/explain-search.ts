import type { ExplainQuery } from '../../../src/features/explain/schema.ts'

/** What is asked: an id or a time, and of which schedule. */
export interface ExplainSearch {
  readonly q?: string
  readonly schedule?: string
}

const textOf = (given: unknown): string =>
  typeof given === 'string' || typeof given === 'number' ? String(given).trim() : ''

/** Reads the address; what makes no sense is left out. */
export function readExplainSearch(given: Readonly<Record<string, unknown>>): ExplainSearch {
  const [q, schedule] = [textOf(given['q']), textOf(given['schedule'])]
  return { ...(q === '' ? {} : { q }), ...(schedule === '' ? {} : { schedule }) }
}

const TIME = /^\d{4}-\d{2}-\d{2}(?:$|[Tt ])|^\d{1,2}:\d{2}/

/** The question as the API wants it. Times are read on the clock of the person who asks. */
export const questionOf = ({ q = '', schedule }: ExplainSearch, timezone: string): ExplainQuery =>
  TIME.test(q) ? { at: q, timezone, ...(schedule === undefined ? {} : { schedule_id: schedule }) } : { id: q }
