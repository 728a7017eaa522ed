import { NOW } from '../support/builders.ts'
import {
  at,
  changing,
  enabling,
  handing,
  handingMany,
  hourly,
  making,
  OTHERS_SESSION,
  retrying,
  runs,
  schedules,
  speaking,
  speakingMany,
  waking,
  DAY,
  type Row,
} from './guard-rails-asks.ts'
import { HOURLY, type Key } from './guard-rails-world.ts'

const rail = (name: string, railName: string, asked: Row['asked'], key: Key = 'plain'): Row => ({
  ...{ name, key, asked, code: 'GUARD_RAIL', rail: railName },
})

/** How many, how often, for how long. */
export const LIMITS: readonly Row[] = [
  rail('make one more', 'max_schedules', hourly, 'full'),
  rail(
    'make one that fires once',
    'max_schedules',
    () => making({ at: at(DAY) }, { kind: 'at', atMs: NOW + DAY }),
    'full',
  ),
  rail(
    'make one that is switched off',
    'max_schedules',
    () => making({ cron: '0 * * * *' }, { kind: 'cron', expr: '0 * * * *' }, { enabled: false }),
    'full',
  ),
  rail('fire every 30 seconds', 'min_interval_seconds', () =>
    making({ every_seconds: 30 }, { kind: 'every', everyMs: 30_000 }),
  ),
  rail('fire twice a minute by cron', 'min_interval_seconds', () =>
    making({ cron: '0,30 * * * * *' }, { kind: 'cron', expr: '0,30 * * * * *' }),
  ),
  rail('fire every second by a recurrence', 'min_interval_seconds', () => making({ rrule: 'FREQ=SECONDLY' })),
  rail('fire twice in a second once a year', 'min_interval_seconds', () =>
    making({ cron: '0,1 0 0 1 1 *' }, { kind: 'cron', expr: '0,1 0 0 1 1 *' }),
  ),
  rail('fire fast from next year on', 'min_interval_seconds', () =>
    making({ every_seconds: 30, starts_at: at(400 * DAY) }),
  ),
  rail('hide the next fast moments', 'min_interval_seconds', () => ({
    rest: ['POST', schedules, { ...HOURLY, cron: '*/30 * * * * *', exclude: [{ from: at(0), to: at(30 * DAY) }] }],
  })),
  rail('let chance bring two together', 'min_interval_seconds', () => ({
    rest: ['POST', schedules, { name: 'x', payload: 'x', every_seconds: 60, jitter_ms: 59_000 }],
  })),
  rail('fire once, right after another', 'min_interval_seconds', () =>
    making({ at: at(DAY + 30_000) }, { kind: 'at', atMs: NOW + DAY + 30_000 }),
  ),
  rail('be slow first and fast then', 'min_interval_seconds', ({ mine }) =>
    changing(mine, { cron: '*/10 * * * * *' }, { schedule: { kind: 'cron', expr: '*/10 * * * * *' } }),
  ),
  rail('become fast with another kind', 'min_interval_seconds', ({ mine }) =>
    changing(mine, { cron: null, every_seconds: 5 }, { schedule: { kind: 'every', everyMs: 5_000 } }),
  ),
  rail(
    'live longer than it may',
    'max_lifetime_seconds',
    () => making({ cron: '0 * * * *', ends_at: at(10 * DAY) }),
    'mortal',
  ),
  rail(
    'fire once, long after',
    'max_lifetime_seconds',
    () => making({ at: at(10 * DAY) }, { kind: 'at', atMs: NOW + 10 * DAY }),
    'mortal',
  ),
  rail(
    'live on by a change',
    'max_lifetime_seconds',
    ({ mortals }) => changing(mortals, { ends_at: at(10 * DAY) }),
    'mortal',
  ),
  rail(
    'live for ever by a change',
    'max_lifetime_seconds',
    ({ mortals }) => changing(mortals, { ends_at: null }),
    'mortal',
  ),
]

const tooSoon = (name: string, railName: string, asked: Row['asked'], key: Key = 'plain'): Row => ({
  ...{ name, key, asked, code: 'GUARD_RAIL_RATE', rail: railName },
})

/** Whatever is asked for counts. */
export const RATES: readonly Row[] = [
  tooSoon('run it again at once', 'min_interval_seconds', ({ mine }) => waking(mine)),
  tooSoon('run it again as due', 'min_interval_seconds', ({ mine }) => ({
    rest: ['POST', `${schedules}/${mine}/run-now`, { mode: 'force' }],
    mcp: ['run_now', { schedule_id: mine, mode: 'force' }],
  })),
  tooSoon('repeat a run of it instead', 'min_interval_seconds', ({ mineFailed }) => ({
    rest: ['POST', `${runs}/${mineFailed}/retry`, {}],
  })),
  tooSoon(
    'hand in many tasks at once',
    'max_runs_per_hour',
    () => ({
      rest: ['POST', '/tasks/batch', { agentId: 'writer', tasks: Array.from({ length: 50 }, () => ({ action: 'x' })) }],
    }),
    'idle',
  ),
  tooSoon('make, delete and make again', 'max_runs_per_hour', hourly, 'idle'),
  tooSoon('hand in a task instead', 'max_runs_per_hour', () => handing('writer'), 'idle'),
  tooSoon('send itself a message instead', 'max_runs_per_hour', () => speaking('agent:writer:key:key_idle'), 'idle'),
]

/** Nothing happens before somebody has approved it. */
export const APPROVALS: readonly Row[] = [
  {
    name: 'run what is not approved',
    key: 'asking',
    asked: ({ proposed }) => waking(proposed),
    code: 'PENDING_APPROVAL',
  },
  {
    ...{ name: 'switch it on', key: 'asking', code: 'PENDING_APPROVAL' },
    asked: ({ proposed }) => ({
      rest: ['POST', `${schedules}/${proposed}/enable`],
      rpc: ['cron.toggle', { jobId: proposed, enabled: true }],
    }),
  },
  { name: 'an owner runs it', key: 'owner', asked: ({ proposed }) => waking(proposed), code: 'PENDING_APPROVAL' },
  rail(
    'approve it itself',
    'operation',
    ({ proposed }) => ({ rest: ['POST', `${schedules}/${proposed}/approve`] }),
    'asking',
  ),
  rail('begin at once with a task', 'approval', () => handing('writer'), 'asking'),
  rail('begin at once with a message', 'approval', () => speaking('agent:writer:key:key_asking'), 'asking'),
  rail('begin at once with one of many tasks', 'approval', () => handingMany('writer', 'reader'), 'asking'),
  rail(
    'begin at once with one of many messages',
    'approval',
    () => speakingMany('agent:writer:key:key_asking', OTHERS_SESSION),
    'asking',
  ),
  ...[{ prompt: 'y' }, { payload: 'y' }, { payload: null }].map((change) =>
    rail(
      `run what was approved with ${JSON.stringify(change)}`,
      'approval',
      ({ approvedRun }) => retrying(approvedRun, change),
      'asking',
    ),
  ),
]

const loop = (name: string, asked: Row['asked'], key: Key = 'working'): Row => ({
  ...{ name, key, asked, code: 'LINEAGE_LOOP', rail: 'lineage' },
})

/** Where work comes from is known by the key. */
export const LINEAGES: readonly Row[] = [
  { name: 'make something at depth 4', key: 'deep', asked: hourly, code: 'LINEAGE_DEPTH', rail: 'lineage' },
  {
    name: 'hand in a task at depth 4',
    key: 'deep',
    asked: () => handing('reader'),
    code: 'LINEAGE_DEPTH',
    rail: 'lineage',
  },
  loop('run what it comes from', ({ agents }) => waking(agents)),
  loop('repeat a run of it', ({ agentsRun }) => ({ rest: ['POST', `${runs}/${agentsRun}/retry`, {}] })),
  loop('move what it comes from', ({ agents }) =>
    changing(agents, { cron: '* * * * *' }, { schedule: { kind: 'cron', expr: '* * * * *' } }),
  ),
  loop('run what it comes from, two runs above', ({ agentsOff }) => waking(agentsOff), 'nested'),
  loop('switch on what it comes from', ({ agentsOff }) => enabling(agentsOff), 'nested'),
  rail('say another parent', 'lineage', () => speaking('agent:writer:self', { parent_run_id: 'run_root' }), 'deep'),
  rail('say a parent at all', 'lineage', () => speaking('agent:writer:key:key_plain', { parent_run_id: 'run_root' })),
  { name: 'make something when the attempt has ended', key: 'over', asked: hourly, code: 'UNAUTHENTICATED' },
  { name: 'hand in a task when it has ended', key: 'over', asked: () => handing('writer'), code: 'UNAUTHENTICATED' },
  {
    name: 'make something with the key of an earlier attempt',
    key: 'borrowed',
    asked: hourly,
    code: 'UNAUTHENTICATED',
  },
]

/** Programs of the operator's machine are started by people. */
export const COMMANDS: readonly Row[] = [
  rail('wake an agent that starts programs', 'executor', () =>
    making({ cron: '0 * * * *' }, undefined, { agent_id: 'runner' }),
  ),
  rail('the same by the words of RPC', 'executor', () => ({
    rpc: ['cron.create', { name: 'x', message: 'x', agentId: 'runner', schedule: { kind: 'cron', expr: '0 * * * *' } }],
  })),
  rail('move to that agent', 'executor', ({ mine }) => changing(mine, { agent_id: 'runner' }, { agentId: 'runner' })),
  rail('hand it a task', 'executor', () => handing('runner')),
  rail('hand it tasks among others', 'executor', () => ({
    rest: ['POST', '/tasks/batch', { agentId: 'runner', tasks: [{ action: 'x' }, { action: 'y' }] }],
  })),
  rail('hand it many tasks', 'executor', () => handingMany('runner', 'runner')),
  rail('choose the model of a retry', 'executor', ({ mineFailed }) => retrying(mineFailed, { model: 'dearest' })),
  rail('choose it where the run is called by its schedule', 'executor', ({ mineFailed }) => ({
    rest: ['POST', `/api/v1/schedule-runs/${mineFailed}/retry`, { model: 'dearest' }],
  })),
  rail('run what a person has led there', 'executor', ({ commands }) => waking(commands)),
  rail('bring an executor along', 'executor', () => ({
    rest: ['POST', schedules, { ...HOURLY, executor: { kind: 'http', url: 'https://x.example' } }],
  })),
  rail('speak to that agent', 'executor', () => speaking('agent:runner:key:key_plain')),
  rail(
    'an owner, through MCP, makes a schedule for it',
    'executor',
    () => ({
      mcp: ['schedule_create', { name: 'x', cron: '0 * * * *', prompt: 'x', agent_id: 'runner' }],
    }),
    'owner',
  ),
  rail(
    'an owner, through MCP, runs one',
    'executor',
    ({ commands }) => ({ mcp: ['run_now', { schedule_id: commands }] }),
    'owner',
  ),
  rail(
    'an owner, through MCP, moves one there',
    'executor',
    ({ others }) => ({
      mcp: ['schedule_update', { schedule_id: others, agent_id: 'runner' }],
    }),
    'owner',
  ),
  rail(
    'an owner, through MCP, hands it a task',
    'executor',
    () => ({
      mcp: ['task_submit', { agent_id: 'runner', action: 'x' }],
    }),
    'owner',
  ),
]
