import type { z } from 'zod'
import type { OperationSpec } from '../../../src/api/operation.ts'
import { readersOf, readShape } from '../../../src/api/read-input.ts'
import { Refusal } from '../../../src/api/refusals.ts'
import { ruleFlawsOf } from '../../../src/api/schema-flaws.ts'
import { sessionMessageInput } from '../../../src/features/sessions/schema.ts'
import { MAX_IN_BATCH, MAX_IN_CALL, taskInput } from '../../../src/features/tasks/schema.ts'
import { bodiesFor, type DrawnBody } from './bodies.ts'
import { respelled, type DescribedBody } from './document.ts'

/** How a body was read. Rules are what JSON Schema cannot express: the grammar of cron, a rule between two fields. */
export type Verdict = 'accepted' | 'refused by its shape' | 'refused by a rule'

type Issue = z.core.$ZodIssue

/** Whether a rule alone found it. Of a union one choice is enough whose shape fits. */
function isOfRule(issue: Issue): boolean {
  if (issue.code === 'invalid_union') return issue.errors.some((issues) => issues.length > 0 && issues.every(isOfRule))
  const found = ruleFlawsOf(issue)
  return found !== null && !found.isShape
}

type ReadItem = (item: object) => boolean

/** Operations whose items are read one by one; what is wrong with one is told in its place. */
const ITEMS: Readonly<Record<string, { readonly list: string; readonly max: number; readonly reads: ReadItem }>> = {
  '/tasks/batch': {
    ...{ list: 'tasks', max: MAX_IN_BATCH },
    reads: (task) => readShape(taskInput, { ...task, agentId: 'a' }).ok,
  },
  '/tasks/many': { list: 'tasks', max: MAX_IN_CALL, reads: (task) => readShape(taskInput, task).ok },
  '/api/v1/messages': {
    ...{ list: 'messages', max: 1_000 },
    reads: (message) => readShape(sessionMessageInput, message).ok,
  },
}

function itemsVerdict({ path }: OperationSpec, body: unknown): Verdict {
  const known = ITEMS[path]
  if (known === undefined) return 'accepted'
  const items = (body as Readonly<Record<string, readonly object[]>>)[known.list] ?? []
  return items.length <= known.max && items.every(known.reads) ? 'accepted' : 'refused by a rule'
}

/** Reads a body as the server does. */
export function verdictOf(spec: OperationSpec, described: DescribedBody): (body: unknown) => Verdict {
  const { body: read } = readersOf(spec)
  if (read === null || spec.body === undefined) throw new Error(`${spec.path} reads no body`)
  const { body: schema } = spec
  return (body) => {
    try {
      read(body)
      return itemsVerdict(spec, body)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
    }
    const asGiven = schema.safeParse(body)
    const spelled =
      asGiven.error?.issues.every(isOfRule) === true ? body : respelled(described.schema, body, described.resolve)
    const issues = schema.safeParse(spelled).error?.issues ?? []
    return issues.length > 0 && issues.every(isOfRule) ? 'refused by a rule' : 'refused by its shape'
  }
}

/** A body on which the document and the server disagree. */
export interface Disagreement extends DrawnBody {
  readonly document: 'allows' | 'refuses'
  readonly server: Verdict
}

/** What came of the bodies of one operation. */
export interface Comparison {
  readonly bodies: number
  /** Drawn to fit, and of these how many were accepted. */
  readonly meant: number
  readonly accepted: number
  readonly disagreements: readonly Disagreement[]
}

const MOST_KEPT = 200

/** Asks the document and the server about each body. */
export function compare(
  spec: OperationSpec,
  described: DescribedBody,
  drawn: { readonly seed: number; readonly count: number },
): Comparison {
  const verdict = verdictOf(spec, described)
  const disagreements: Disagreement[] = []
  let [meant, accepted] = [0, 0]
  const { total, at } = bodiesFor(described, drawn)
  for (let number = 0; number < total; number += 1) {
    const one = at(number)
    const document = described.allows(one.body) ? 'allows' : 'refuses'
    const server = verdict(one.body)
    if (one.meant) meant += 1
    if (one.meant && server === 'accepted') accepted += 1
    const isAgreed = document === 'allows' ? server !== 'refused by its shape' : server !== 'accepted'
    if (!isAgreed && disagreements.length < MOST_KEPT) disagreements.push({ ...one, document, server })
  }
  return { bodies: total, meant, accepted, disagreements }
}

const SHOWN = 5
const LONGEST_SHOWN = 500

/** Disagreements in words, with what is needed to repeat them. */
export function told(disagreements: readonly Disagreement[], seed: number): string {
  const lines = disagreements.slice(0, SHOWN).map(({ number, document, server, body }) => {
    const text = JSON.stringify(body)
    const shown = text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}… (${text.length} characters)` : text
    return `body ${number} of seed ${seed}: the document ${document} it, by the server it is ${server}: ${shown}`
  })
  const more = disagreements.length - SHOWN
  return [...lines, ...(more > 0 ? [`and ${more} more`] : [])].join('\n')
}
