import type { AgentId, OrgId, RunId, ScheduleId, SessionKey } from '../domain/ids.ts'
import { instant, type Instant } from '../domain/instant.ts'
import { isPending, type RunState } from '../domain/run/run-machine.ts'
import type { Trigger } from '../domain/run/run.ts'
import { runOfSession } from '../core/session/run-session.ts'
import type { Connection, SqlValue, Transaction } from './database.ts'
import { type Listed, readPage } from '../platform/db/page.ts'
import { inRunSession } from './run-row.ts'
import { listedRuns, recordOf, type RunRecord, runs } from './run-record.ts'
import { column, columns, type RowOf, toTimestamp } from '../platform/db/table.ts'

/** What may be large of a run. */
const LARGE = [
  'payload',
  'output',
  'summary',
  'reported',
  'errorMessage',
  'delivery',
  'decision',
  'heldDecision',
  'why',
  'lineage',
]

const WITH_PENDING = 'run r left join pending p on p.org_id = r.org_id and p.id = r.id'

/** The run, or undefined. */
export async function loadRun(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly id: RunId },
): Promise<RunRecord | undefined> {
  const rows = await connection.query(`select ${runs.list} from ${WITH_PENDING} where r.org_id = $1 and r.id = $2`, [
    wanted.orgId,
    wanted.id,
  ])
  return runs.read(rows).map(recordOf)[0]
}

/** Which runs of an org. What is left out or null does not matter. */
export interface RunChoice {
  readonly orgId: OrgId
  readonly scheduleId?: ScheduleId | null
  readonly sessionKey?: SessionKey | null
  readonly agentId?: AgentId | null
  readonly states?: readonly RunState[] | null
  readonly trigger?: Trigger | null
  /** The code that their runtime reported. */
  readonly agentErrorCode?: string | null
  /** Made at or after it. */
  readonly from?: Instant | null
  /** Made before it. */
  readonly to?: Instant | null
  /** Ended at or after it, or not at all. */
  readonly endedSince?: Instant | null
  /** Those of one owner, and the one run besides that its attempt is of. */
  readonly owned?: { readonly owner: string; readonly alsoRun: RunId | null } | null
  readonly onlyOfSchedules?: boolean
}

/** Where a page goes on: after this one. */
export interface RunCursor {
  readonly createdAt: Instant
  readonly id: RunId
}

/** What a list is about, in words that the conditions of the indexes are made of. */
const ABOUT = {
  schedule: 'r.schedule_id = $2',
  session: 'r.session_key = $3',
  runSession: inRunSession('r.', '$3::text'),
  agent: 'r.agent_id = $4',
  task: `r.trigger = 'task'`,
  trigger: `r.trigger = $6 and r.trigger not in ('message', 'task')`,
} as const
type About = keyof typeof ABOUT

/**
 * Where the wanted states are kept. Pending runs are few among many that have ended, so whoever asks only for them
 * starts at `pending`; whoever asks only for ended ones needs no look at it.
 */
const KEPT = {
  pending: {
    source: 'pending p join run r on r.org_id = p.org_id and r.id = p.id',
    state: 'p.state = any($5::text[])',
  },
  ended: { source: WITH_PENDING, state: 'r.state = any($5::text[])' },
  anywhere: {
    source: WITH_PENDING,
    state: '($5::text[] is null or coalesce(r.state, p.state) = any($5::text[]))',
  },
} as const
type Kept = keyof typeof KEPT

const within = (row: string): string => `${row}.created_at >= $7::timestamptz and ${row}.created_at < $8::timestamptz
    and (${row}.created_at, ${row}.id) < ($9::timestamptz, $10::text)
    and ($4::text is null or ${row}.agent_id = $4) and ($6::text is null or ${row}.trigger = $6)`

const OF_SCHEDULE = '($2::text is null or r.schedule_id = $2)'
const IN_SESSION = '($3::text is null or r.session_key = $3)'

/** Of one schedule or session, if one was named. Conditions on a session of a run are in `ABOUT`. */
const ofOne = ({ about }: Pick<Wanted, 'about'>): string =>
  about.includes('runSession') ? OF_SCHEDULE : `${OF_SCHEDULE} and ${IN_SESSION}`

/** What few ask for is no part of what the others ask. */
const ENDED_SINCE = 'and (r.finished_at is null or r.finished_at >= $12::timestamptz)'

/** The same for those who see nothing but their own. */
const OWNED = 'and (r.owner = $13 or r.id = $14)'

const OF_SCHEDULES = 'and r.schedule_id is not null'

interface Wanted {
  readonly columns: string
  readonly about: readonly About[]
  readonly endedSince: boolean
  readonly owned: boolean
  readonly onlyOfSchedules: boolean
}

const furtherOf = ({ endedSince, owned, onlyOfSchedules }: Wanted): string =>
  [endedSince || owned ? ENDED_SINCE : '', owned ? OWNED : '', onlyOfSchedules ? OF_SCHEDULES : ''].join(' ')

const listText = (wanted: Wanted, kept: Kept): string => `select ${wanted.columns} from ${KEPT[kept].source}
  where r.org_id = $1 and ${[...wanted.about.map((one) => ABOUT[one]), KEPT[kept].state].join(' and ')}
    and ${ofOne(wanted)} and ${within('r')} ${furtherOf(wanted)}
  order by r.created_at desc, r.id desc limit $11`

/**
 * Runs that did not succeed are few too, and have a list of their own: the newest of each wanted state, and of those the
 * newest. What is still pending joins them when it is wanted.
 */
const unsuccessfulText = (wanted: Wanted, alsoPending: boolean): string => `select ${wanted.columns} from (
    select u.id from unnest($5::text[]) as wanted (state) cross join lateral (
      select o.id from unsuccessful_run o where o.org_id = $1 and o.state = wanted.state and ${within('o')}
       order by o.created_at desc, o.id desc limit $11) u
    ${alsoPending ? 'union all select id from pending where org_id = $1 and state = any($5::text[])' : ''}
  ) found join run r on r.org_id = $1 and r.id = found.id
    left join pending p on p.org_id = r.org_id and p.id = r.id
  where ${ofOne(wanted)} and ${within('r')} ${furtherOf(wanted)}
  order by r.created_at desc, r.id desc limit $11`

/** Runs by the code of their runtime have an index of their own, among those that did not succeed. */
const agentErrorText = (wanted: Wanted): string => `select ${wanted.columns} from unsuccessful_run o
    join run r on r.org_id = o.org_id and r.id = o.id
    left join pending p on p.org_id = r.org_id and p.id = r.id
  where o.org_id = $1 and o.agent_error_code = $15 and ($5::text[] is null or o.state = any($5::text[]))
    and ${ofOne(wanted)} and ${within('o')} ${ENDED_SINCE} and ($13::text is null or r.owner = $13 or r.id = $14) ${wanted.onlyOfSchedules ? OF_SCHEDULES : ''}
  order by o.created_at desc, o.id desc limit $11`

interface RunPage extends RunChoice {
  readonly after: RunCursor | null
  readonly limit: number
}

/** Runs, newest first. */
export async function listRuns(connection: Connection, page: RunPage): Promise<readonly RunRecord[]> {
  return runs.read(await connection.query(textFor(page, runs.list), valuesOf(page))).map(recordOf)
}

/** A page of runs, newest first, which ends by bytes too. Unless `whole`, large payloads are left out. */
export const listRunPage = (
  connection: Connection,
  page: RunPage & { readonly whole?: boolean },
): Promise<Listed<RunRecord>> => {
  const shown = page.whole === true ? runs : listedRuns
  return readPage(
    connection,
    {
      text: textFor(page, shown.list),
      values: valuesOf({ ...page, limit: page.limit + 1 }),
      large: LARGE,
      limit: page.limit,
    },
    { read: (rows) => shown.read(rows).map(recordOf) },
  )
}

function valuesOf(page: RunPage): readonly SqlValue[] {
  return [
    page.orgId,
    page.scheduleId ?? null,
    page.sessionKey ?? null,
    page.agentId ?? null,
    page.states ?? null,
    page.trigger ?? null,
    toTimestamp(page.from ?? instant(-Infinity)),
    toTimestamp(page.to ?? instant(Infinity)),
    toTimestamp(page.after?.createdAt ?? instant(Infinity)),
    page.after?.id ?? '',
    page.limit,
    ...furtherValues(page),
  ]
}

function furtherValues({ endedSince, owned, agentErrorCode }: RunChoice): readonly SqlValue[] {
  if (isGiven(agentErrorCode))
    return [toTimestamp(endedSince ?? instant(-Infinity)), owned?.owner ?? null, owned?.alsoRun ?? null, agentErrorCode]
  if (!isGiven(owned)) return isGiven(endedSince) ? [toTimestamp(endedSince)] : []
  return [toTimestamp(endedSince ?? instant(-Infinity)), owned.owner, owned.alsoRun]
}

function textFor(choice: RunChoice, columns: string): string {
  const states = choice.states ?? null
  const about = aboutOf(choice)
  const owned = isGiven(choice.owned)
  const onlyOfSchedules = choice.onlyOfSchedules === true
  const wanted = { columns, about, owned, endedSince: isGiven(choice.endedSince), onlyOfSchedules }
  if (isGiven(choice.agentErrorCode)) return agentErrorText(wanted)
  // A schedule or a session has few runs of its own: their index is the shorter way.
  const isOfOne =
    owned || onlyOfSchedules || about.some((one) => one === 'schedule' || one === 'session' || one === 'runSession')
  if (states === null || isOfOne || states.includes('success') || states.every(isPending))
    return listText(wanted, keptOf(states))
  return unsuccessfulText(wanted, states.some(isPending))
}

const isGiven = <T>(value: T | null | undefined): value is T => value !== undefined && value !== null

function keptOf(states: readonly RunState[] | null): Kept {
  if (states === null) return 'anywhere'
  if (states.every(isPending)) return 'pending'
  return states.some(isPending) ? 'anywhere' : 'ended'
}

function aboutOf({ scheduleId: schedule, sessionKey: session, agentId: agent, trigger }: RunChoice): readonly About[] {
  const about: About[] = []
  if (isGiven(schedule)) about.push('schedule')
  if (isGiven(session)) about.push(runOfSession(session) === null ? 'session' : 'runSession')
  if (isGiven(agent)) about.push('agent')
  if (trigger === 'task') about.push('task')
  else if (isGiven(trigger) && trigger !== 'message') about.push('trigger')
  return about
}

const owners = columns({
  id: column.text<RunId>(),
  agentId: column.text<AgentId>(),
  sessionKey: column.text<SessionKey | null>(),
  scheduleId: column.text<ScheduleId | null>(),
  /** The key or the agent under whose guard rails it was made. */
  owner: column.text<string | null>(),
})

/** Whose a run is. None of it ever changes. */
type RunOwnersRow = Omit<RowOf<typeof owners>, 'id'>

/** Whose runs these are; those that are gone are left out. */
export async function loadRunOwners(
  connection: Connection,
  asked: { readonly orgId: OrgId; readonly ids: readonly RunId[] },
): Promise<ReadonlyMap<RunId, RunOwnersRow>> {
  const rows = await connection.query(`select ${owners.list} from run where org_id = $1 and id = any($2::text[])`, [
    asked.orgId,
    asked.ids,
  ])
  return new Map(owners.read(rows).map(({ id, ...row }) => [id, row]))
}

const payloads = columns({ id: column.text<RunId>(), payload: column.json() })

/** What runs were given to do. */
export async function loadPayloads(
  tx: Transaction,
  asked: { readonly orgId: OrgId; readonly ids: readonly RunId[] },
): Promise<ReadonlyMap<RunId, unknown>> {
  const rows = await tx.query(`select ${payloads.list} from run where org_id = $1 and id = any($2::text[])`, [
    asked.orgId,
    asked.ids,
  ])
  return new Map(payloads.read(rows).map(({ id, payload }) => [id, payload]))
}
