import type { Permission } from '../core/access.ts'
import type { AsCodeAction, AsCodeKind, AsCodeThing } from '../core/as-code/kinds.ts'
import type { AgentInput } from './agent.ts'
import type { BudgetInput } from './budget.ts'
import type { ProblemError } from './problem.ts'
import type { ScheduleFields } from './schedule.ts'
import type { TargetInput } from './target.ts'

/** In a document, what lasts may also be a text such as `30m`, wherever the name of its field ends in its unit. */
type Lasting<Fields> = {
  readonly [Name in keyof Fields]: Name extends `${string}_seconds` | `${string}_ms`
    ? Fields[Name] | string
    : Fields[Name]
}

type Given<Fields> = { readonly [Name in keyof Fields]?: Fields[Name] | null | undefined }

/** An agent of a document: what it is made from. Without an id it is known by its name. */
export type AgentItem = Lasting<AgentInput>

/** A schedule of a document: what it is made from, with names in place of ids. */
export interface ScheduleItem extends Given<Lasting<Omit<ScheduleFields, 'delivery'>>> {
  /** Left out: it is known by its name. */
  readonly id?: string | undefined
  /** The name of the agent, or its id; the default agent of the org unless given. */
  readonly agent?: string | null | undefined
  /** Instead of `every_seconds`, when the interval is not a whole number of seconds. */
  readonly everyMs?: number | null | undefined
  /** Where its results go, by name or by id. */
  readonly delivery?: DeliveryItem | null | undefined
}

/** Where the results of a schedule go: the name of a target, or its id. */
export interface DeliveryItem {
  readonly target?: string | undefined
  readonly target_id?: string | undefined
}

/** A target of a document: what it is made from. Without an id it is known by its name. */
export interface TargetItem extends TargetInput {
  readonly id?: string | undefined
}

/** A budget of a document. Without an id it is known by whose it is, what it counts, and how often. */
export interface BudgetItem extends BudgetInput {
  readonly id?: string | undefined
  /** The name of the agent it is for, or its id. */
  readonly agent?: string | undefined
  /** The name of the schedule it is for, or its id. */
  readonly schedule?: string | undefined
}

/** The configuration of an org as one document. Of a kind that is left out, nothing is said and nothing is changed. */
export interface AsCodeDocument {
  readonly version: 1
  readonly agents?: readonly AgentItem[] | undefined
  readonly targets?: readonly TargetItem[] | undefined
  readonly schedules?: readonly ScheduleItem[] | undefined
  readonly budgets?: readonly BudgetItem[] | undefined
}

/** Which kinds are wanted, with commas between them; all unless given. */
export interface ExportFilter {
  readonly kinds?: string | undefined
}

/** How a document is to be carried out. */
export interface ApplyFilter {
  /** Deletes what is stored and not in the document, of the kinds that the document names; false unless given. */
  readonly prune?: boolean | undefined
  /** The `plan_id` that was seen: anything else than what it said is refused. */
  readonly expect?: string | undefined
}

/** One field that is to change. Null: it is not there, or its default. Values that are hidden are shown as `***`. */
export interface PlannedChange {
  /** Nested with dots: `retry_policy.base_ms`. */
  readonly field: string
  readonly before: unknown
  readonly after: unknown
}

/** What becomes of one thing. */
export interface PlannedItem {
  readonly kind: AsCodeThing
  /** Of a budget: whose it is, what it counts, and how often. */
  readonly name: string
  /** Null while there is none. */
  readonly id: string | null
  readonly action: AsCodeAction
  /** Where it stands in the document; null: it is stored and not in the document. */
  readonly pointer: string | null
  readonly changes: readonly PlannedChange[]
  /** What stands in its way; while there is any of anything, nothing is done. */
  readonly flaws: readonly ProblemError[]
}

/** What a document would change, or has changed. */
export interface PlanView {
  /** Of the document and everything it was compared with: it is another one as soon as any of that is. */
  readonly plan_id: string
  readonly applied: boolean
  readonly prune: boolean
  readonly items: readonly PlannedItem[]
  readonly counts: Readonly<Record<AsCodeAction | 'flawed', number>>
  /** What whoever applies it must be permitted. */
  readonly permissions: readonly Permission[]
}

/** Schedules as code, as a program that embeds Escapement reaches them. */
export interface AsCode {
  /** Of these kinds, or of all. */
  readonly export: (kinds?: readonly AsCodeKind[]) => Promise<AsCodeDocument>
  /** What applying it would change; nothing is kept. */
  readonly plan: (document: AsCodeDocument, how?: ApplyFilter) => Promise<PlanView>
  /** All of it or nothing. */
  readonly apply: (document: AsCodeDocument, how?: ApplyFilter) => Promise<PlanView>
}

export type { AsCodeAction, AsCodeKind, AsCodeThing }
