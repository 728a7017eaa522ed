import type { z } from 'zod'
import type { BodyOf, ParamsOf, QueryOf } from '../../../api/operation.ts'
import { invalid } from '../../../api/refusals.ts'
import type { Flaw } from '../../../domain/input.ts'
import type { OperationId, Operations } from '../../../operations/table.ts'

/** The API call of a tool: one operation and its input. */
export interface ToolRequest {
  readonly operation: OperationId
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
  /** The version to change. */
  readonly version: number | undefined
}

interface OperationInput<Id extends OperationId> {
  readonly params?: ParamsOf<Operations[Id]>
  readonly query?: QueryOf<Operations[Id]>
  readonly body?: BodyOf<Operations[Id]>
  readonly version?: number | undefined
}

/** Builds the API call of a tool; the compiler checks the input against the operation. */
export const toolRequest = <Id extends OperationId>(operation: Id, given: OperationInput<Id>): ToolRequest => ({
  operation,
  params: given.params ?? {},
  query: given.query ?? {},
  body: given.body,
  version: given.version,
})

/** Hints for a client that decides whether to ask the user first. */
export interface ToolHints {
  /** Changes nothing. */
  readonly readOnlyHint: boolean
  /** May undo or end something. */
  readonly destructiveHint: boolean
  /** A repeated call has no further effect. */
  readonly idempotentHint: boolean
  /** Triggers agents, which may access external systems. */
  readonly openWorldHint: boolean
}

/** The result of a tool: structured data for programs, and text for models that only read text. */
export interface ToolOutput<Output> {
  readonly structured: Output
  readonly text: string
}

/** Alternative names of arguments, accepted but not listed: those of the API, and former ones. */
type Synonyms<Input> = Readonly<Record<string, keyof Input & string>>

/** One tool of the MCP server. Its listing, calls, docs and tests are derived from this. */
export interface ToolSpec<Input, Answer, Output> {
  readonly title: string
  /** For models: what it does, when to use it, units and examples. */
  readonly description: string
  readonly input: z.ZodType<Input>
  readonly output: z.ZodType<Output>
  readonly hints: ToolHints
  readonly synonyms?: Synonyms<Input>
  readonly toRequest: (input: Input) => ToolRequest
  readonly toOutput: (answer: Answer, input: Input) => ToolOutput<Output>
  /** The run that a call has created; null if none. A tool that has it can be called as a task. */
  readonly runOf?: (answer: Answer) => string | null
}

/** A tool without its input and output types; `input` and `output` validate them at run time. */
export interface Tool {
  readonly title: string
  readonly description: string
  readonly input: z.ZodType
  readonly output: z.ZodType
  readonly hints: ToolHints
  readonly synonyms?: Readonly<Record<string, string>>
  /** Takes the value that `input` has parsed. */
  readonly toRequest: (input: unknown) => ToolRequest
  /** Takes the response of the operation. */
  readonly toOutput: (answer: unknown, input: unknown) => ToolOutput<unknown>
  readonly runOf?: (answer: unknown) => string | null
}

/** Checks the types of a tool and erases them. */
export const tool = <Input, Answer, Output>({ runOf, ...spec }: ToolSpec<Input, Answer, Output>): Tool => ({
  ...spec,
  ...(runOf === undefined ? {} : { runOf: (answer: unknown) => runOf(answer as Answer) }),
  toRequest: (input) => spec.toRequest(input as Input),
  toOutput: (answer, input) => spec.toOutput(answer as Answer, input as Input),
})

/** Renames synonyms to the listed argument names. Rejects two names of one argument. */
export function renameSynonyms({ synonyms = {} }: Tool, given: unknown): unknown {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return given
  const used = Object.entries(synonyms).filter(([synonym]) => Object.hasOwn(given, synonym))
  if (used.length === 0) return given
  const flaws = used
    .filter(([, name]) => Object.hasOwn(given, name))
    .map(([field, name]): Flaw => ({
      field,
      value: undefined,
      message: `and ${name} mean the same; give only ${name}`,
    }))
  if (flaws.length > 0) throw invalid(flaws)
  const listed = new Map(used)
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [listed.get(name) ?? name, value]))
}

/** Hints of a tool that only reads. */
export const READ_ONLY_HINTS: ToolHints = {
  ...{ readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
}

/** Cuts long texts, because models pay for each token. */
export const truncate = (text: string, maxLength: number): string =>
  text.length > maxLength ? `${text.slice(0, maxLength - 1)}…` : text
