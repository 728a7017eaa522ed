import type { Random } from '../../simulation/random.ts'
import type { Answer, Client } from './client.ts'

/** What an attack is made with. */
export interface Attacker {
  readonly client: Client
  /** With the key of an admin of the hostile org: what a member may not write at all shows nothing. */
  readonly admin: Client
  readonly random: Random
}

const numbers = (count: number): string => Array.from({ length: count }, (_, index) => index).join()

/** Every second of a year, asked of a rule that repeats once a year. */
const EVERY_SECOND = `FREQ=YEARLY;BYHOUR=${numbers(24)};BYMINUTE=${numbers(60)};BYSECOND=${numbers(60)}`
const RULES = [
  EVERY_SECOND,
  `FREQ=YEARLY;BYHOUR=${numbers(24)};BYMINUTE=${numbers(60)}`,
  'FREQ=MINUTELY;BYHOUR=1,2,3,4,5',
  'FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30',
]
const CRONS = ['* * * * * *', '0 0 30 2 *', '*/1 0-59 0-23 1-31 1-12 0-6']

/** As many fields as a body of the size that is taken can hold. */
const FIELDS = Object.fromEntries(Array.from({ length: 60_000 }, (_, index) => [`f${index}`, 0]))
const WIDE = JSON.stringify({ every_seconds: 60, payload: 'x', ...FIELDS })
const DEEP = `{"every_seconds":60,"payload":${'['.repeat(20_000)}${']'.repeat(20_000)}}`
const LARGE = 'x'.repeat(900_000)
const DENSE = JSON.stringify({ items: Array.from({ length: 20_000 }, () => ({})) })

/** Where a body can be sent to by a member, and what else it can be taken for. */
const DOORS = [
  '/api/v1/schedules',
  '/api/v1/schedules/preview',
  '/tasks',
  '/tasks/batch',
  '/rpc',
  '/api/v1/sessions/a/messages',
]

/** Each sends one request or a few, and answers with what came back. */
export const ATTACKS: Readonly<Record<string, (by: Attacker) => Promise<readonly Answer[]>>> = {
  dense_preview: async ({ client, random }) => [
    await client({ path: '/api/v1/schedules/preview', body: { rrule: random.one(RULES), count: 100 } }),
  ],
  dense_forecast: async ({ client, random }) => [
    await client({ path: '/api/v1/schedules/forecast', body: { rrule: random.one(RULES), days: 31 } }),
    await client({ path: '/api/v1/budgets/forecast?days=90' }),
  ],
  dense_stored: async ({ client, random }) => [
    await client({
      path: '/api/v1/schedules',
      body: { rrule: random.one(RULES), payload: 'x', executor: { kind: 'echo' } },
    }),
  ],
  dense_cron: async ({ client, random }) => [
    await client({ path: '/api/v1/schedules/preview', body: { cron: random.one(CRONS), count: 100 } }),
  ],
  simulation: async ({ client, random }) => [
    await client({
      path: '/api/v1/schedules/simulate',
      body: { schedules: [{ rrule: random.one(RULES), payload: 'x' }], window_seconds: 2_592_000 },
    }),
  ],
  wide_body: async ({ client, random }) => [await client({ path: random.one(DOORS), body: WIDE })],
  deep_body: async ({ client, random }) => [await client({ path: random.one(DOORS), body: DEEP })],
  dense_body: async ({ client, random }) => [await client({ path: random.one(DOORS), body: DENSE })],
  large_schedule: async ({ client }) => [
    await client({ path: '/api/v1/schedules', body: { every_seconds: 86_400, payload: LARGE, enabled: false } }),
  ],
  large_pages: ({ client }) =>
    Promise.all(Array.from({ length: 4 }, () => client({ path: '/api/v1/schedules?limit=200' }))),
  hanging_runs: ({ client, random }) =>
    Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        client({
          path: `/api/v1/sessions/agent:hang:api:direct:${random.int(1, 100_000)}-${index}/messages`,
          body: { text: 'hang', debounce_ms: 0 },
        }),
      ),
    ),
  deep_answer: async ({ client, random }) => [
    await client({
      path: `/api/v1/sessions/agent:deep:api:direct:${random.int(1, 100_000)}/messages`,
      body: { text: 'deep', debounce_ms: 0 },
    }),
  ],
  parallel_secrets: ({ admin, random }) =>
    Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        admin({
          path: '/api/v1/secrets',
          body: { name: `s${random.int(1, 1_000)}_${index}`, value: LARGE.slice(0, 5_000) },
        }),
      ),
    ),
  flood: ({ client }) => Promise.all(Array.from({ length: 100 }, () => client({ path: '/api/v1/runs?limit=1' }))),
  tasks: ({ client, random }) =>
    Promise.all(
      Array.from({ length: 20 }, () =>
        client({ path: '/tasks', body: { agentId: `a${random.int(1, 1_000)}`, action: 'hang' } }),
      ),
    ),
}
