import { setTimeout as sleep } from 'node:timers/promises'
import { migrate } from '../../../src/platform/db/migrate.ts'
import { openPostgres } from '../../../src/platform/db/postgres/postgres.ts'
import { findBacklogFlaws, watchLeases } from '../database-record.ts'
import { prepareDatabase, settle, ticking, type Suffered } from '../deployment.ts'
import { describeCrash, doom, lastWords, startMember, tell, untilReady, type Member } from '../member.ts'
import type { MadeSchedule } from '../node-process.ts'
import type { Server } from '../server.ts'
import type { OldBuild } from './workshop.ts'

/** What a rolling upgrade needs. */
export interface RolloutOptions {
  readonly server: Server
  readonly old: OldBuild
  /** Where the nodes keep their journals and logs. */
  readonly directory: string
  readonly seed: number
  readonly perSecond: number
  readonly phaseMs: number
  /** Whoever migrates: the command, before any new node is there, or the first new node as it starts. */
  readonly migratedBy: 'command' | 'node'
  /** Whether this build has migrations that the earlier one does not know. */
  readonly isNewer: boolean
  /** Told of every process, so that it can be ended however this ends. */
  readonly started: (member: Member) => void
  readonly say: (line: string) => void
}

/** What happened, beside what journals and database say. */
export interface Rollout extends Suffered {
  readonly members: readonly Member[]
  /** While nodes of both builds were at work. */
  readonly mixed: { readonly from: number; readonly until: number }
  readonly migratedInMs: number
  readonly troubles: readonly string[]
}

type Side = 'old' | 'new'

const PAIRS = 3

/** Few: with many of them version 0.1.0 waits for its own connections. */
const ORGS = 8

/** A schedule has this long to decide its last occurrences before it is disabled. */
const LAST_TICKS_MS = 3_000

interface Deployment {
  readonly launch: (side: Side, load: boolean) => Promise<Member>
  readonly members: Member[]
}

/**
 * Old nodes take load; the database is migrated under them; for each a new node joins and the old one leaves, drained or
 * killed; a new one is killed too while old ones are there to take over. Then everything settles.
 */
export async function rollOut(options: RolloutOptions): Promise<Rollout> {
  const { server, old, phaseMs, say } = options
  await prepareDatabase(server, { orgs: ORGS, migrations: old.migrations })
  const deployment = createDeployment(options)
  const olds = await Promise.all(Array.from({ length: PAIRS }, () => deployment.launch('old', false)))
  const [first] = olds
  const made = first === undefined ? [] : await tell(first, 'settle_in')
  const leases = watchLeases(server)
  try {
    await Promise.all(olds.map((member) => tell(member, 'load')))
    const from = Date.now()
    say(`${PAIRS} nodes of the earlier build take load`)
    await sleep(phaseMs)
    const { next, ...migration } = await migrateUnderLoad(options, deployment)
    const refusal = options.isNewer ? await tryOldNode(options, deployment) : []
    const news = await replace(options, deployment, { olds, first: next })
    const mixed = { from: migration.at, until: Date.now() }
    say('every node is of this build')
    await sleep(phaseMs)
    const ended = await comeToRest(server, deployment, { news, made })
    return {
      ...{ members: deployment.members, mixed, migratedInMs: migration.took, faults: [] },
      ...{ schedules: ended.schedules, load: { from, until: ended.until } },
      troubles: [...refusal, ...ended.troubles],
      leases: await leases.stop(),
    }
  } finally {
    await leases.stop()
  }
}

function createDeployment(options: RolloutOptions): Deployment {
  const { server, directory, perSecond, seed } = options
  const members: Member[] = []
  const launch = async (side: Side, load: boolean): Promise<Member> => {
    const number = members.length
    const order = {
      ...{ name: `${side}${number}`, url: server.url(), seed: seed * 1_000 + number, journals: directory, perSecond },
      orgs: ORGS,
    }
    const member = startMember({ order, ...(side === 'old' ? { entry: options.old.entry } : {}) })
    members.push(member)
    options.started(member)
    await untilReady(member, directory)
    if (load) await tell(member, 'load')
    return member
  }
  return { launch, members }
}

interface Migrated {
  readonly at: number
  readonly took: number
  /** The new node that migrated, if one did. */
  readonly next: Member | null
}

/** The schema becomes that of this build while nodes of the earlier one are at work. */
async function migrateUnderLoad(options: RolloutOptions, { launch }: Deployment): Promise<Migrated> {
  const at = Date.now()
  if (options.migratedBy === 'node') {
    const next = await launch('new', true)
    options.say('a new node has migrated the database and joined')
    return { at, took: Date.now() - at, next }
  }
  const database = await openPostgres({ target: options.server.url() })
  try {
    const { applied } = await migrate(database)
    options.say(`migrated by command: ${applied.join(', ')}`)
  } finally {
    await database.close()
  }
  return { at, took: Date.now() - at, next: null }
}

/** A node of the earlier build that starts only now is refused, with the words that the documents promise. */
async function tryOldNode(
  { directory, say }: RolloutOptions,
  { launch, members }: Deployment,
): Promise<readonly string[]> {
  const started = await launch('old', false).then(
    () => true,
    () => false,
  )
  const [late] = members.slice(-1)
  if (late === undefined) return ['no late node was tried']
  doom(late).child.signal('SIGKILL')
  await late.child.ended
  if (started) return ['a node of the earlier build started on the newer database']
  const words = lastWords(directory, late.name)
  if (!words.includes('newer version of this program'))
    return [`a node of the earlier build was refused for another reason: ${words}`]
  say('a node of the earlier build that starts now is refused: the database is newer')
  return []
}

/** One new node in, one old node out, pair by pair. */
async function replace(
  { phaseMs, say }: RolloutOptions,
  { launch }: Deployment,
  { olds, first }: { readonly olds: readonly Member[]; readonly first: Member | null },
): Promise<readonly Member[]> {
  const news: Member[] = []
  for (const [pair, old] of olds.entries()) {
    news.push((pair === 0 ? first : null) ?? (await launch('new', true)))
    await sleep(phaseMs)
    if (pair === 0) {
      const [struck] = news.splice(0)
      if (struck !== undefined) await strike(struck)
      say(`${String(struck?.name)} was killed: old nodes take over what it held`)
      news.push(await launch('new', true))
    }
    if (pair === 1) await strike(old)
    else await leave(old)
    say(`${old.name} was ${pair === 1 ? 'killed: new nodes take over what it held' : 'drained and has left'}`)
  }
  return news
}

async function strike(member: Member): Promise<void> {
  doom(member).child.signal('SIGKILL')
  await member.child.ended
}

/** Drained while somebody still submits to it, as a service manager would. */
async function leave(member: Member): Promise<void> {
  await tell(member, 'leave')
  await member.child.ended
}

/** No more load: what is there settles, and everybody leaves. */
async function comeToRest(
  server: Server,
  { members }: Deployment,
  { news, made }: { readonly news: readonly Member[]; readonly made: readonly MadeSchedule[] },
): Promise<Pick<Rollout, 'schedules' | 'troubles'> & { readonly until: number }> {
  const until = Date.now()
  const early = await findBacklogFlaws(server)
  await Promise.all(news.map((member) => tell(member, 'rest')))
  await sleep(LAST_TICKS_MS)
  const [any] = news
  if (any !== undefined) await tell(any, 'disable')
  const pending = await settle(server)
  const troubles = [
    ...members.flatMap(describeCrash),
    ...(pending === 0 ? [] : [`${pending} runs have not settled`]),
    ...early,
    ...(await findBacklogFlaws(server)),
  ]
  await Promise.all(news.map(leave))
  return { until, troubles, schedules: made.map((schedule) => ticking(schedule, until)) }
}
