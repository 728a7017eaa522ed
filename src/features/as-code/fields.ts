import { DEFAULT_RESTRICTIONS } from '../../domain/access/restrictions.ts'
import { inlineKindOf } from '../../domain/agent.ts'
import { SCHEDULE_SYNONYMS, withoutDefaults } from '../../domain/as-code/compare.ts'
import { BUDGET_DEFAULTS, type BudgetScope } from '../../domain/budget/budget.ts'
import { visibleSettings } from '../../domain/delivery/target-kinds.ts'
import { instant } from '../../domain/instant.ts'
import { type JsonFields, isJsonFields, isSameJson, pickFields } from '../../domain/json.ts'
import { DEFAULT_RETRY_POLICY, storedPolicyOf, policyFlaws, type RetryPolicy } from '../../domain/run/retry-policy.ts'
import { defaultMaxRetries } from '../../domain/run/retry.ts'
import type { Zone } from '../../domain/time/zone.ts'
import { viewRestrictions } from '../access/restrictions.ts'
import { AGENT_DEFAULTS, defaultRetriesOf } from '../agents/input.ts'
import { agentFields as contractFields } from '../agents/schema.ts'
import { viewAgent } from '../agents/service.ts'
import type { AgentRow } from '../agents/store.ts'
import type { BudgetTerms } from '../budgets/schema.ts'
import type { BudgetRow } from '../budgets/store.ts'
import { settingsOf } from '../budgets/stored-budget.ts'
import { ownBudgetTerms } from '../schedules/budget.ts'
import { parseSchedule, type ScheduleAgent } from '../schedules/input.ts'
import { newScheduleRow } from '../schedules/new-schedule.ts'
import { scheduleFields as FIELDS, type ScheduleInput } from '../schedules/schema.ts'
import type { ScheduleRow } from '../schedules/store.ts'
import { viewRetryPolicy, viewSchedule } from '../schedules/view.ts'
import type { TargetRow } from '../targets/store.ts'

const NAMES = Object.keys(contractFields)

/** An agent in document form, with all defaults and with hidden values. */
export const agentFields = (row: AgentRow): JsonFields => ({ ...shownAgent(row), executor: row.executor })

/** The same with hidden values masked. */
export const shownAgent = (row: AgentRow): JsonFields =>
  pickFields({ ...viewAgent(row), retry_policy: policyWithoutDefaults(row.retryPolicy) }, NAMES)

/** An agent for an export, without defaults and hidden values. */
export function exportedAgent(row: AgentRow): JsonFields {
  const { name, executor } = row
  const full = shownAgent(row)
  const found: JsonFields = withoutDefaults(full, agentFields({ ...row, ...AGENT_DEFAULTS, name, executor }))
  return pickFields(
    {
      ...found,
      ...{ name, executor: full['executor'] },
      ...(row.retryPolicy === null
        ? {}
        : { retry_policy: exportedPolicy(row.retryPolicy, defaultRetriesOf(executor)) }),
      ...(row.selfService === null
        ? {}
        : {
            self_service: withoutDefaults(
              { ...viewRestrictions(row.selfService) },
              { ...viewRestrictions(DEFAULT_RESTRICTIONS) },
            ),
          }),
    },
    NAMES,
  )
}

/** A retry policy without the fields it leaves to the deployment's defaults. */
function policyWithoutDefaults(policy: RetryPolicy | null): JsonFields | null {
  if (policy === null) return null
  const leftOut: readonly string[] = policy.leftOut ?? []
  return Object.fromEntries(Object.entries(viewRetryPolicy(policy)).filter(([name]) => !leftOut.includes(name)))
}

/**
 * A retry policy as it was given. Fields that equal a built-in default are written too, because the deployment may have
 * another default. If the shortened policy would be read differently, because the default of one field depends on
 * another, the full policy is written.
 */
function exportedPolicy(policy: RetryPolicy, maxRetries: number): JsonFields {
  const { strategy, ladderSeconds } = DEFAULT_RETRY_POLICY
  const short = withoutDefaults(policyWithoutDefaults(policy) ?? {}, { strategy, ladder_seconds: ladderSeconds })
  const read = storedPolicyOf(short, { ...DEFAULT_RETRY_POLICY, maxRetries })
  const full: JsonFields = { ...viewRetryPolicy(policy) }
  return policyFlaws(short).length === 0 && isSameJson(viewRetryPolicy(read), full) ? short : full
}

/** A budget in API form, with all defaults. */
export const budgetFields = (row: Parameters<typeof settingsOf>[0]): JsonFields => {
  const { scope: _scope, owner: _owner, ...terms } = settingsOf(row)
  return terms
}

/** The names that identify exactly one agent or schedule. */
interface ScopeNames {
  readonly agents: ReadonlyMap<string, string>
  readonly schedules: ReadonlyMap<string, string>
}

function exportedScope(scope: BudgetScope, names: ScopeNames): JsonFields {
  if (scope.kind === 'agent') {
    const name = names.agents.get(scope.agentId)
    return name === undefined ? { agent_id: scope.agentId } : { agent: name }
  }
  if (scope.kind !== 'schedule') return {}
  const name = names.schedules.get(scope.scheduleId)
  return name === undefined ? { schedule_id: scope.scheduleId } : { schedule: name }
}

/** A budget for an export, without defaults. The time zone is always written, because days and months depend on it. */
export function exportedBudget(row: BudgetRow, names: ScopeNames): JsonFields {
  const terms = settingsOf(row)
  return {
    ...exportedScope(row.scope, names),
    ...{ unit: terms.unit, amount: terms.amount },
    ...(terms.period === BUDGET_DEFAULTS.period ? {} : { period: terms.period }),
    timezone: terms.timezone,
    ...(terms.on_exceed === BUDGET_DEFAULTS.onExceed ? {} : { on_exceed: terms.on_exceed }),
    ...(terms.default_reserve === BUDGET_DEFAULTS.defaultReserve ? {} : { default_reserve: terms.default_reserve }),
  }
}

/** The identity of a budget: its scope, unit and period. */
export const budgetKey = ({ scope, unit, period }: Pick<BudgetRow, 'scope' | 'unit' | 'period'>): string => {
  const subject = scope.kind === 'agent' ? scope.agentId : scope.kind === 'schedule' ? scope.scheduleId : ''
  return [scope.kind, subject, unit, period].join('\u0000')
}

/** The name of a budget in messages, for example `tokens per day of agent a`. */
export function budgetName(
  { scope, unit, period }: Pick<BudgetRow, 'scope' | 'unit' | 'period'>,
  nameOf: (kind: 'agents' | 'schedules', id: string) => string,
): string {
  const subject =
    scope.kind === 'agent'
      ? `agent ${nameOf('agents', scope.agentId)}`
      : scope.kind === 'schedule'
        ? `schedule ${nameOf('schedules', scope.scheduleId)}`
        : 'the org'
  return `${unit} per ${period} of ${subject}`
}

/** The fields of a target in a document except the id, in the order in which they are written. */
const TARGET_FIELDS = ['name', 'kind', 'url', 'settings', 'quiet_hours', 'alerts', 'enabled'] as const

/**
 * Whether the user enabled the target. A target that was disabled because deliveries failed still counts as enabled,
 * because a document does not contain runtime state.
 */
const isTargetEnabled = ({ disabledAt, disabledWhy }: TargetRow): boolean => disabledAt === null || disabledWhy !== null

/** A target in document form, with all defaults. */
export const targetFields = (row: TargetRow): JsonFields => ({
  ...{ name: row.name, kind: row.kind, url: row.url === '' ? null : row.url, settings: row.settings },
  ...{ quiet_hours: row.quietHours, alerts: row.alerts, enabled: isTargetEnabled(row) },
})

/** The same with hidden values masked: of a secret URL only the beginning is stored in plain text. */
export const shownTarget = (row: TargetRow): JsonFields => ({
  ...targetFields(row),
  settings: visibleSettings(row.kind, row.settings),
})

/** A target for an export, without defaults and without a hidden URL. */
export const exportedTarget = (row: TargetRow): JsonFields =>
  pickFields(
    {
      name: row.name,
      ...(row.kind === 'webhook' ? {} : { kind: row.kind }),
      ...(row.url === '' || row.sealedUrl !== null ? {} : { url: row.url }),
      ...(Object.keys(row.settings).length === 0 ? {} : { settings: visibleSettings(row.kind, row.settings) }),
      ...(row.quietHours === null ? {} : { quiet_hours: row.quietHours }),
      ...(row.alerts ? { alerts: true } : {}),
      ...(isTargetEnabled(row) ? {} : { enabled: false }),
    },
    TARGET_FIELDS,
  )

/**
 * The fields of a schedule in a document except the id, including references by name, in the order in which they are
 * written.
 */
export const DOCUMENT_FIELDS: readonly string[] = [
  ...['name', 'description', 'agent'],
  ...Object.keys(FIELDS).filter(
    (name) => !['name', 'description', ...(SCHEDULE_SYNONYMS as readonly string[])].includes(name),
  ),
]

/** Fields with values that can be hidden; the stored input has them in full. */
const MASKED_FIELDS = ['executor', 'probe']

/**
 * Whether the user enabled the schedule. A one-time schedule that failed for good still counts as enabled, because a
 * document does not contain runtime state.
 */
const isScheduleEnabled = ({ state, approval }: Pick<ScheduleRow, 'state' | 'approval'>): boolean =>
  state === 'pending_approval' ? approval?.rests !== true : state !== 'paused'

/** A schedule in API form, with hidden values masked and all defaults. */
export function shownSchedule(row: ScheduleRow): JsonFields {
  const view: JsonFields = { ...viewSchedule(row), retry_policy: policyWithoutDefaults(row.retryPolicy) }
  return { ...pickFields(view, DOCUMENT_FIELDS), enabled: isScheduleEnabled(row), budget: ownBudgetTerms(row) }
}

/** The same with hidden values. */
export const scheduleFields = (row: ScheduleRow): JsonFields => ({
  ...shownSchedule(row),
  ...Object.fromEntries(MASKED_FIELDS.map((name) => [name, row.input[name] ?? null])),
})

/** The names and defaults that an export of a schedule depends on. */
export interface ExportContext {
  readonly agents: ReadonlyMap<string, string>
  readonly targets: ReadonlyMap<string, string>
  readonly zone: Zone
  /** The agent of the schedule. */
  readonly agent: ScheduleAgent
}

/** The earliest instant: relative to it, no time is in the past. */
const EARLIEST_INSTANT = instant(-8.64e15)

/**
 * A schedule for an export: without defaults and hidden values, and with references by name where the name is unique.
 */
export function exportedSchedule(row: ScheduleRow, writing: ExportContext): JsonFields {
  const full = shownSchedule(row)
  const found = withoutDefaults(full, defaultFieldsOf(row, full, writing))
  return pickFields(
    {
      ...found,
      ...timingFieldsOf(full),
      name: row.name,
      ...agentOrExecutorOf(row, full, writing),
      ...timezoneFieldOf(row, full, writing),
      anchor: row.input['anchor'] === undefined ? undefined : full['anchor'],
      payload: exportedPayload(row.payload),
      retry_policy:
        row.retryPolicy === null ? undefined : exportedPolicy(row.retryPolicy, retriesOfScheduleAgent(writing.agent)),
      budget: exportedBudgetTerms(ownBudgetTerms(row)),
      delivery: exportedDelivery(full['delivery'], writing),
      enabled: full['enabled'] === false ? false : undefined,
    },
    DOCUMENT_FIELDS,
  )
}

const timingFieldsOf = (full: JsonFields): JsonFields =>
  pickFields(full, ['at', 'every_seconds', 'everyMs', 'cron', 'rrule'])

/** The fields of a schedule with the same timing and otherwise defaults. */
function defaultFieldsOf(row: ScheduleRow, full: JsonFields, { zone, agent }: ExportContext): JsonFields {
  const plan = { ...timingFieldsOf(full), ...pickFields(full, ['timezone', 'anchor']) }
  const executor = inlineKindOf(row.agentId) === null ? {} : { executor: row.input['executor'] }
  const context = { now: EARLIEST_INSTANT, defaultZone: zone, agent, existing: null }
  const read = parseSchedule({ ...plan, ...executor } as ScheduleInput, context)
  if (!read.ok) return {}
  const { orgId, id } = row
  return shownSchedule(newScheduleRow(read.value, { caller: { orgId, principal: null }, now: row.createdAt, id }))
}

const retriesOfScheduleAgent = ({ id, executor }: ScheduleAgent): number =>
  defaultMaxRetries({ trigger: 'schedule', executorKind: executor.kind, inlineExecutor: inlineKindOf(id) !== null })

function agentOrExecutorOf({ agentId }: ScheduleRow, full: JsonFields, { agents }: ExportContext): JsonFields {
  if (inlineKindOf(agentId) !== null) return { agent_id: undefined, executor: full['executor'] }
  const name = agents.get(agentId)
  return name === undefined ? { agent_id: agentId } : { agent_id: undefined, agent: name }
}

/** The time zone is written where the timing depends on it, and elsewhere only if it differs from the org's. */
function timezoneFieldOf({ timing }: ScheduleRow, full: JsonFields, { zone }: ExportContext): JsonFields {
  const decides = timing.kind === 'cron' || timing.kind === 'rrule' || timing.exclude !== null
  return { timezone: decides || timing.zone.name !== zone.name ? full['timezone'] : undefined }
}

/** A payload that is only a prompt is written as text. */
function exportedPayload(payload: unknown): unknown {
  if (payload === null) return undefined
  if (!isJsonFields(payload)) return payload
  const { prompt } = payload
  return typeof prompt === 'string' && Object.keys(payload).length === 1 ? prompt : payload
}

function exportedBudgetTerms(terms: BudgetTerms | null): JsonFields | undefined {
  if (terms === null) return undefined
  const { period, onExceed, defaultReserve } = BUDGET_DEFAULTS
  return withoutDefaults({ ...terms }, { period, on_exceed: onExceed, default_reserve: defaultReserve })
}

function exportedDelivery(delivery: unknown, { targets }: ExportContext): JsonFields | undefined {
  if (!isJsonFields(delivery)) return undefined
  const id = String(delivery['target_id'])
  const name = targets.get(id)
  return name === undefined ? { target_id: id } : { target: name }
}
