import fc from 'fast-check'
import type { AgentInput } from '../../../src/features/agents/schema.ts'
import type { BudgetInput } from '../../../src/features/budgets/schema.ts'
import type { ScheduleInput } from '../../../src/features/schedules/schema.ts'
import type { TargetInput } from '../../../src/features/targets/schema.ts'
import { formatInstant, later } from '../../../src/domain/instant.ts'
import {
  CONCURRENCY_POLICIES,
  FAILURE_ACTIONS,
  MISFIRE_POLICIES,
  OVERLAP_ACTIONS,
} from '../../../src/domain/schedule/rules.ts'
import { NOW } from '../../support/builders.ts'

/** A schedule of a random org; what it names is the how manieth agent or target of the org, if there are that many. */
export interface ModelSchedule {
  readonly input: ScheduleInput
  readonly agent: number
  readonly target: number
}

/** A budget of a random org, of the whole org or of its how manieth agent or schedule. */
export interface ModelBudget {
  readonly input: Omit<BudgetInput, 'agent_id' | 'schedule_id'>
  readonly of: 'org' | 'agent' | 'schedule'
  readonly index: number
}

/** What a random org is made of: what the API takes to make it. */
export interface Model {
  readonly agents: readonly AgentInput[]
  readonly targets: readonly TargetInput[]
  readonly schedules: readonly ModelSchedule[]
  readonly budgets: readonly ModelBudget[]
}

const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined, freq: 1 })

/** Few names, so that some are equal, beside names in any language and names that look like something else. */
const name = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom('Nightly', 'nightly', 'Report', 'Écho', '每日报告', 'true', '12', 'a/b~c', ' x '),
  },
  {
    weight: 1,
    arbitrary: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).filter((text) => !text.includes('\u0000')),
  },
)
const text = fc.constantFrom('', 'Twice\na day', '- not a list', '# no comment', '中文，说明', 'a: b')
const moment = (from: number, to: number) =>
  fc.integer({ min: from, max: to }).map((hours) => formatInstant(later(NOW, hours * 3_600_000)))
const zone = fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Shanghai')
const anyCase = (...words: readonly string[]) =>
  fc.tuple(fc.constantFrom(...words), fc.boolean()).map(([word, low]) => (low ? word.toLowerCase() : word))

const policy = fc.record(
  {
    max_retries: fc.integer({ min: 0, max: 6 }),
    strategy: fc.constantFrom('fixed', 'exponential', 'ladder'),
    base_ms: fc.constantFrom(500, 2_000, 9_000),
    max_ms: fc.constantFrom(30_000, 60_000),
    jitter: fc.constantFrom(0, 0.25, 0.5),
    ladder_seconds: fc.constantFrom([5], [30, 60], [30, 60, 300, 900, 3_600]),
  },
  { requiredKeys: [] },
)

const terms = fc.record(
  {
    unit: fc.constantFrom('tokens' as const, 'money' as const),
    amount: fc.constantFrom(100, 5_000),
    period: fc.constantFrom('day' as const, 'month' as const),
    timezone: zone,
    on_exceed: fc.constantFrom('skip' as const, 'queue' as const, 'pause' as const),
    default_reserve: fc.constantFrom(0, 7),
  },
  { requiredKeys: ['unit', 'amount'] },
)

const headers = fc.constantFrom(
  ...[{ 'x-team': 'ops' }, { authorization: 'Bearer shh' }, { 'X-Api-Key': 'k', accept: 'text/plain' }],
)
const http = fc.record(
  {
    kind: fc.constant('http'),
    url: fc.constantFrom('https://agent.example/run', 'https://agent.example/{{run_id}}'),
    method: fc.constantFrom('POST', 'PUT'),
    headers,
    body: fc.constantFrom({ a: ['{{payload.x}}', 1] }, 'text'),
    async: fc.boolean(),
  },
  { requiredKeys: ['kind', 'url'] },
)

const agent: fc.Arbitrary<AgentInput> = fc.record(
  {
    name,
    executor: fc.oneof(fc.constant({ kind: 'echo' }), fc.constant({ kind: 'worker' }), http),
    id: fc.uuid().map((id) => `agent-${id.slice(0, 8)}`),
    description: text,
    retry_policy: policy,
    timeout_seconds: fc.constantFrom(-1, 5, 600),
    max_concurrent: fc.constantFrom(1, 9),
    context_window: fc.constantFrom(1_000),
    default_session: fc.constantFrom('agent:x:main'),
    self_service: fc.constantFrom(
      {},
      { max_schedules: 3, approval: true },
      { budget: { unit: 'tokens' as const, amount: 5 } },
    ),
  },
  { requiredKeys: ['name', 'executor'] },
)

const target: fc.Arbitrary<TargetInput> = fc
  .record({
    name,
    where: fc.constantFrom<Partial<TargetInput>>(
      ...[
        { url: 'https://hooks.example/in?x=1' },
        { kind: 'session' as const, settings: { session: 'agent:writer:main' } },
        { kind: 'email' as const, settings: { to: ['ops@example.org'], subject_prefix: '[x]' } },
        { kind: 'slack' as const, url: 'https://hooks.slack.example/services/a/b' },
      ],
    ),
    quiet_hours: maybe(fc.constant({ start: '22:00', end: '07:00', timezone: 'Europe/Berlin' })),
    alerts: maybe(fc.boolean()),
    enabled: maybe(fc.boolean()),
  })
  .map(({ where, ...rest }) => ({ ...rest, ...where }))

const plan: fc.Arbitrary<ScheduleInput> = fc.oneof(
  fc.record({ at: moment(1, 9_000), delete_after_run: maybe(fc.boolean()) }),
  fc.record({
    every_seconds: fc.constantFrom(60, 900, 86_400),
    anchor: maybe(moment(-100, 100)),
    cadence: maybe(
      fc.constantFrom({ min_seconds: 30, max_seconds: 90_000 }, { min_seconds: 60, max_seconds: 86_400, stretch: 3 }),
    ),
  }),
  fc.record({ everyMs: fc.constantFrom(1_500, 60_000, 90_500), anchor: maybe(moment(-100, 100)) }),
  fc.record({
    cron: fc.constantFrom('0 9 * * 1-5', '*/5 8-18 * * MON-FRI', '0 0 1 1 *', '15 10 * * * *', '@daily'),
    dst: maybe(fc.constantFrom('vixie', 'skip')),
    day_match: maybe(fc.constantFrom('or', 'and')),
  }),
  fc.record({
    rrule: fc.constantFrom(
      'FREQ=DAILY;BYHOUR=9;BYMINUTE=0',
      'FREQ=WEEKLY;BYDAY=MO,WE',
      'FREQ=MONTHLY;BYMONTHDAY=-1;COUNT=9',
    ),
    anchor: maybe(moment(-50, 50)),
  }),
)

const rules = fc.record(
  {
    misfire_policy: anyCase(...MISFIRE_POLICIES),
    catchup_limit: fc.constantFrom(1, 4),
    catchup_window_seconds: fc.constantFrom(0, 900, 3_600),
    overlap_action: anyCase(...OVERLAP_ACTIONS),
    max_parallel: fc.constantFrom(2),
    failure_action: anyCase(...FAILURE_ACTIONS),
    failure_options: fc.constantFrom({ threshold: 5 }, { ladder_seconds: [9, 99] }, { cooldown_seconds: 300 }),
    concurrency_policy: anyCase(...CONCURRENCY_POLICIES),
    max_concurrency: fc.constantFrom(1, 3),
    queue_depth: fc.constantFrom(0, 10),
    max_fires: fc.constantFrom(7),
    alert_after: fc.constantFrom(2),
    max_lateness_seconds: fc.constantFrom(0, 30),
    retry_policy: policy,
  },
  { requiredKeys: [] },
)

const probe = fc.constantFrom(
  ...[
    {
      kind: 'http',
      url: 'https://check.example/',
      headers: { authorization: 'x' },
      when: { path: '/n', op: '>', value: 0 },
    },
    { kind: 'state', when: { path: '/runs', op: '=', value: 1 }, on_error: 'fail' },
  ],
)

const rest = fc.record(
  {
    name,
    description: text,
    timezone: zone,
    payload: fc.constantFrom<unknown>(
      'Look',
      { prompt: 'Look' },
      { prompt: 'x', output: { b: 1, a: [null] } },
      [1],
      7,
      '',
    ),
    session: fc.constantFrom('isolated', 'main', 'agent:a:b'),
    lane: fc.constantFrom('cron', 'night'),
    enabled: fc.boolean(),
    timeout_seconds: fc.constantFrom(0, 30),
    jitter_ms: fc.constantFrom(0, 500),
    starts_at: moment(0, 20),
    ends_at: moment(10_000, 20_000),
    exclude: fc.constantFrom(
      ['2026-12-24'],
      [{ from: '2026-12-24T00:00:00+01:00', to: '2026-12-27T00:00:00Z' }, '2026-05-01'],
    ),
    budget: terms,
    probe,
  },
  { requiredKeys: [] },
)

const schedule: fc.Arbitrary<ModelSchedule> = fc
  .record({
    plan,
    rules,
    rest,
    executor: fc.option(fc.oneof(fc.constant({ kind: 'echo' }), http), { nil: undefined, freq: 3 }),
    agent: fc.integer({ min: -1, max: 3 }),
    target: fc.integer({ min: -2, max: 2 }),
  })
  .map((drawn) => {
    const { plan: when, rules: how, rest: others, executor, ...refs } = drawn
    const input = { ...others, ...how, ...when, ...(executor === undefined ? {} : { executor }) } as ScheduleInput
    return { ...refs, input }
  })

const budget: fc.Arbitrary<ModelBudget> = fc.record({
  input: terms,
  of: fc.constantFrom('org' as const, 'agent' as const, 'schedule' as const),
  index: fc.integer({ min: 0, max: 3 }),
})

/** Orgs with a few things of every kind. */
export const model: fc.Arbitrary<Model> = fc.record({
  agents: fc.array(agent, { maxLength: 3 }),
  targets: fc.array(target, { maxLength: 2 }),
  schedules: fc.array(schedule, { minLength: 1, maxLength: 4 }),
  budgets: fc.array(budget, { maxLength: 2 }),
})

const OPEN_HEADERS = { 'x-team': 'ops' }
const withoutPrivate = <Of extends object>(of: Of): Of =>
  'headers' in of && of.headers !== undefined ? { ...of, headers: OPEN_HEADERS } : of

/** The same without anything that is hidden, so that their documents can be applied elsewhere. */
export const openModel: fc.Arbitrary<Model> = model.map(({ agents, targets, schedules, budgets }) => ({
  agents: agents.map((one) => ({ ...one, executor: withoutPrivate(one.executor) })),
  targets: targets.filter(({ kind }) => kind !== 'slack'),
  schedules: schedules.map(({ input: { executor, probe: asked, ...input }, ...refs }) => ({
    ...refs,
    input: {
      ...input,
      ...(executor === undefined || executor === null ? {} : { executor: withoutPrivate(executor) }),
      ...(asked === undefined || asked === null ? {} : { probe: withoutPrivate(asked) }),
    },
  })),
  budgets,
}))
