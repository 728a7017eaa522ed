import type { z } from 'zod'
import type { BodyOf, ParamsOf, QueryOf } from '../../../api/operation.ts'
import { invalid } from '../../../api/refusals.ts'
import type { Flaw } from '../../../domain/input.ts'
import type { OperationId, Operations } from '../../../operations/table.ts'

/** What a tool asks of the API: one operation, and what it is given. */
export interface ToolAsk {
  readonly operation: OperationId
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
  /** The version that is to be changed. */
  readonly version: number | undefined
}

interface Given<Id extends OperationId> {
  readonly params?: ParamsOf<Operations[Id]>
  readonly query?: QueryOf<Operations[Id]>
  readonly body?: BodyOf<Operations[Id]>
  readonly version?: number | undefined
}

/** Says which operation a tool asks for; the compiler holds what is given to what the operation takes. */
export const asking = <Id extends OperationId>(operation: Id, given: Given<Id>): ToolAsk => ({
  operation,
  params: given.params ?? {},
  query: given.query ?? {},
  body: given.body,
  version: given.version,
})

/** What a client may assume of a tool when it decides whether to ask a person first. */
export interface ToolHints {
  /** Changes nothing. */
  readonly readOnlyHint: boolean
  /** May undo or end something. */
  readonly destructiveHint: boolean
  /** Twice is as good as once. */
  readonly idempotentHint: boolean
  /** Wakes agents, who may reach the world outside. */
  readonly openWorldHint: boolean
}

/** What a tool answers: what programs read, and a sentence for models that read only text. */
export interface Told<Output> {
  readonly structured: Output
  readonly text: string
}

/** Other names of arguments: those that the API uses for the same thing elsewhere, and former ones. They are not listed. */
type Synonyms<Input> = Readonly<Record<string, keyof Input & string>>

/** One tool of the MCP server. What is listed, called, documented and tested is made from these. */
export interface ToolSpec<Input, Answer, Output> {
  readonly title: string
  /** For a model: what it does, when to use it, units and examples. */
  readonly description: string
  readonly input: z.ZodType<Input>
  readonly output: z.ZodType<Output>
  readonly hints: ToolHints
  readonly synonyms?: Synonyms<Input>
  readonly ask: (input: Input) => ToolAsk
  readonly tell: (answer: Answer, input: Input) => Told<Output>
}

/** A tool of which nobody asks any more what goes in and out: `input` and `output` say it when it is called. */
export interface Tool {
  readonly title: string
  readonly description: string
  readonly input: z.ZodType
  readonly output: z.ZodType
  readonly hints: ToolHints
  readonly synonyms?: Readonly<Record<string, string>>
  /** Takes what `input` has read. */
  readonly ask: (input: unknown) => ToolAsk
  /** Takes what the operation has answered. */
  readonly tell: (answer: unknown, input: unknown) => Told<unknown>
}

/** Checks a tool, and hands it on as one of many. */
export const tool = <Input, Answer, Output>(spec: ToolSpec<Input, Answer, Output>): Tool => ({
  ...spec,
  ask: (input) => spec.ask(input as Input),
  tell: (answer, input) => spec.tell(answer as Answer, input as Input),
})

/** Arguments under the names that the tool lists. Two names of one argument at once are refused. */
export function inListedNames({ synonyms = {} }: Tool, given: unknown): unknown {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return given
  const used = Object.entries(synonyms).filter(([synonym]) => Object.hasOwn(given, synonym))
  if (used.length === 0) return given
  const flaws = used
    .filter(([, name]) => Object.hasOwn(given, name))
    .map(([field, name]): Flaw => ({
      field,
      value: undefined,
      message: `and ${name} are the same; give ${name} alone`,
    }))
  if (flaws.length > 0) throw invalid(flaws)
  const listed = new Map(used)
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [listed.get(name) ?? name, value]))
}

/** Reads, and nothing else. */
export const READS: ToolHints = {
  ...{ readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
}

/** Longer texts are cut: whoever pays for each word of an answer wants few. */
export const cut = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text)
