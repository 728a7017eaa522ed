import {
  OTHERS_SESSION,
  at,
  changing,
  deleting,
  enabling,
  explain,
  making,
  runs,
  schedules,
  speaking,
  waking,
  type Row,
} from './guard-rails-asks.ts'
import { LIMITS, RATES, APPROVALS, LINEAGES, COMMANDS } from './guard-rails-limits.ts'
import type { Asked, Key } from './guard-rails-world.ts'

const missing = (name: string, asked: Row['asked']): Row => ({ name, asked, code: 'NOT_FOUND' })

/** What is somebody else's is not there. */
const NOT_ITS_OWN: readonly Row[] = [
  missing('look at another’s schedule', ({ others }) => ({
    rest: ['GET', `${schedules}/${others}`],
    mcp: ['schedule_list', { schedule_id: others }],
  })),
  missing('change it', ({ others }) => changing(others, { name: 'Mine now' }, { name: 'Mine now' })),
  missing('delete it', ({ others }) => deleting(others)),
  missing('switch it on', ({ others }) => enabling(others)),
  missing('switch it off', ({ others }) => ({
    rest: ['POST', `${schedules}/${others}/disable`],
    rpc: ['cron.toggle', { jobId: others, enabled: false }],
    mcp: ['schedule_update', { schedule_id: others, enabled: false }],
  })),
  missing('run it now', ({ others }) => waking(others)),
  missing('list its runs', ({ others }) => ({
    rest: ['GET', `${schedules}/${others}/runs`],
    rpc: ['cron.runs', { jobId: others }],
  })),
  missing('ask what became of a moment of it', ({ others }) => ({
    rest: ['GET', `${schedules}/${others}/explain?at=${at(3_600_000)}`],
    mcp: ['run_explain', { schedule_id: others, at: at(3_600_000) }],
  })),
  missing('ask about it at a time', ({ others }) => ({
    rest: ['GET', `${explain}?at=${at(3_600_000)}&schedule_id=${others}`],
  })),
  missing('ask about a run of it by its id', ({ othersRun }) => ({ rest: ['GET', `${explain}?id=${othersRun}`] })),
  missing('ask about an agent', () => ({ rest: ['GET', `${explain}?id=writer`] })),
  missing('ask about a conversation', () => ({
    rest: ['GET', `${explain}?id=${encodeURIComponent(OTHERS_SESSION)}`],
  })),
  missing('look at a run of it', ({ othersRun }) => ({ rest: ['GET', `${runs}/${othersRun}`] })),
  missing('look at it under its other address', ({ othersRun }) => ({
    rest: ['GET', `/api/v1/schedule-runs/${othersRun}`],
  })),
  missing('ask why it is where it is', ({ othersRun }) => ({
    rest: ['GET', `${runs}/${othersRun}/explain`],
    mcp: ['run_explain', { run_id: othersRun }],
  })),
  missing('look where it comes from', ({ othersRun }) => ({ rest: ['GET', `${runs}/${othersRun}/lineage`] })),
  missing('repeat it', ({ othersRun }) => ({ rest: ['POST', `${runs}/${othersRun}/retry`, {}] })),
  missing('repeat it under its other address', ({ othersRun }) => ({
    rest: ['POST', `/api/v1/schedule-runs/${othersRun}/retry`, {}],
  })),
  missing('draft a schedule from it', ({ othersRun }) => ({ rest: ['POST', `${runs}/${othersRun}/schedule`] })),
  missing('end another’s work', ({ othersTask }) => ({
    rest: ['POST', `${runs}/${othersTask}/cancel`],
    mcp: ['stop', { run_id: othersTask }],
  })),
  missing('look at another’s task', ({ othersTask }) => ({ rest: ['GET', `/tasks/${othersTask}`] })),
  missing('cancel it', ({ othersTask }) => ({ rest: ['POST', `/tasks/${othersTask}/cancel`] })),
  missing('change what another key with rails has made', ({ rivals }) =>
    changing(rivals, { name: 'Mine now' }, { name: 'Mine now' }),
  ),
  missing('run it', ({ rivals }) => waking(rivals)),
  { ...missing('an agent runs a key’s schedule', ({ rivals }) => waking(rivals)), key: 'working' },
  {
    ...missing('an attempt looks at a run that is not its own', ({ mineRun }) => ({
      rest: ['GET', `${runs}/${mineRun}/explain`],
      mcp: ['run_explain', { run_id: mineRun }],
    })),
    key: 'working',
  },
]

const inSession = (name: string, asked: Asked, key: Key = 'plain'): Row => ({
  ...{ name, key, asked: () => asked, code: 'GUARD_RAIL', rail: 'session' },
})

/** Conversations are told apart by their names. */
const OTHERS_TALK: readonly Row[] = [
  inSession('speak in another’s conversation', speaking(OTHERS_SESSION)),
  inSession('read it', { rest: ['GET', `/api/v1/sessions/${encodeURIComponent(OTHERS_SESSION)}/messages`] }),
  inSession('look at it', { rest: ['GET', `/api/v1/sessions/${encodeURIComponent(OTHERS_SESSION)}`] }),
  inSession('stop it', {
    rest: ['POST', `/api/v1/sessions/${encodeURIComponent(OTHERS_SESSION)}/stop`],
    rpc: ['sessions.stop', { key: OTHERS_SESSION }],
    mcp: ['stop', { session: OTHERS_SESSION }],
  }),
  inSession('stop all of it', {
    rest: ['POST', `/api/v1/sessions/${encodeURIComponent(OTHERS_SESSION)}/stopall`],
    rpc: ['sessions.stopall', { key: OTHERS_SESSION }],
    mcp: ['stop', { session: OTHERS_SESSION, all: true }],
  }),
  inSession('stop it with a word', speaking(OTHERS_SESSION, { text: '/stop' })),
  inSession('let a schedule speak in it', making({ cron: '0 * * * *' }, undefined, { session: OTHERS_SESSION })),
  inSession(
    'stop a conversation of its agent that is not its own',
    {
      rest: ['POST', `/api/v1/sessions/${encodeURIComponent(OTHERS_SESSION)}/stop`],
      mcp: ['stop', { session: OTHERS_SESSION }],
    },
    'working',
  ),
]

const outside = (name: string, rest: Asked['rest'], rpc?: Asked['rpc']): Row => ({
  ...{ name, code: 'GUARD_RAIL', rail: 'operation' },
  asked: () => ({ ...(rest === undefined ? {} : { rest }), ...(rpc === undefined ? {} : { rpc }) }),
})

/** What its role does not reach either, in an org that is not the operator's: the rails speak first. */
const barred = (name: string, rest: NonNullable<Asked['rest']>): Row => ({
  name,
  asked: () => ({ rest }),
  ...{ code: 'GUARD_RAIL', rail: 'operation' },
})

/** What no key with rails has business with. */
const OUTSIDE: readonly Row[] = [
  outside('make a key', ['POST', '/api/v1/keys', { name: 'free', role: 'owner' }]),
  outside('list keys', ['GET', '/api/v1/keys']),
  outside('revoke a key', ['DELETE', '/api/v1/keys/key_owner']),
  outside('make an agent', ['POST', '/api/v1/agents', { name: 'Mine', executor: { kind: 'echo' } }]),
  outside('change an agent', ['PATCH', '/api/v1/agents/writer', { self_service: null }]),
  outside('make a secret', ['POST', '/api/v1/secrets', { name: 'mine', value: 'x' }]),
  outside('make a target', ['POST', '/api/v1/targets', { name: 'x', kind: 'webhook', url: 'https://x.example' }]),
  outside('make a budget', ['POST', '/api/v1/budgets', { scope: 'org', unit: 'tokens', amount: 1, period: 'day' }]),
  barred('change the configuration', ['PATCH', '/api/v1/config', { 'tasks.enabled': false }]),
  barred('change a lane', ['PUT', '/api/v1/lanes/main', { size: 100 }]),
  outside('make a member', ['POST', '/api/v1/orgs/acme/members', { email: 'x@x.example', role: 'owner' }]),
  outside('read the audit', ['GET', '/api/v1/audit']),
  outside(
    'set a heart beating',
    ['PUT', '/api/v1/agents/writer/heartbeat', { enabled: true }],
    ['heartbeat.set', { agentId: 'writer', enabled: true }],
  ),
  outside('let a heart beat once', undefined, ['heartbeat.test', { agentId: 'writer' }]),
  outside('claim the work of agents', ['POST', '/api/v1/worker/claim', { worker_id: 'x', agents: ['writer'] }]),
]

/** Every way around that we could think of. */
export const ROWS: Readonly<Record<string, readonly Row[]>> = {
  'what is not its own': NOT_ITS_OWN,
  'conversations of others': OTHERS_TALK,
  'what it has no business with': OUTSIDE,
  'how many, how often, how long': LIMITS,
  'what it asks for': RATES,
  approval: APPROVALS,
  lineage: LINEAGES,
  'the command executor': COMMANDS,
}
