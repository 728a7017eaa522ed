import './wall-clock-installed.ts'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDatabaseAway } from '../../src/platform/db/database-error.ts'
import { createRandom } from '../simulation/random.ts'
import { journalFile, openJournal } from './journal.ts'
import { startManyOrgs, type ManyOrgs, type OrgDoor } from './many-orgs.ts'
import { LARGE_ORG, ORGS, type PlannedOrg } from './orgs.ts'
import type { HandlerLine, SubmissionLine } from './records.ts'
import { startTraffic, type Traffic } from './traffic.ts'
import { setWallClock, trueNow } from './wall-clock.ts'
import { createHandler, type Habit } from './work.ts'
import { AGENTS, SCHEDULES, SETTINGS } from './world.ts'

// A node of the deployment that is tormented: the engine, handlers, and somebody who submits. It is told what to do in
// JSON lines and answers in JSON lines.

/** What it is started with, in the file its first argument names. */
export interface NodeOrder {
  readonly name: string
  readonly url: string
  readonly seed: number
  readonly journals: string
  readonly perSecond: number
  /** How many of the orgs there are. */
  readonly orgs: number
}

export type NodeCommand = 'settle_in' | 'load' | 'rest' | 'disable' | 'leave'

/** What is done to a node from inside; nobody waits for an answer. */
export type NodeOrders =
  /** The first handler that begins before this time stops the process. */
  | { readonly freezeBefore: number }
  /** The wall clock is so many milliseconds off from now on. */
  | { readonly clockOffMs: number }
  /** So many read at once something that somebody has locked. */
  | { readonly readers: number }

export type NodeSaid =
  | { readonly said: 'ready' }
  | { readonly said: 'done'; readonly what: NodeCommand; readonly schedules?: readonly MadeSchedule[] }
  | { readonly said: 'failed'; readonly what: NodeCommand; readonly why: string }
  | { readonly said: 'readers_done'; readonly refused: number }

export interface MadeSchedule {
  readonly id: string
  readonly name: string
  readonly intervalMs: number
}

// Without a handler Node opens its debugger on this signal.
process.on('SIGUSR1', () => undefined)

const order = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as NodeOrder
const submissions = openJournal<SubmissionLine>(journalFile(order.journals, order.name, 'submissions'))
const handlers = openJournal<HandlerLine>(journalFile(order.journals, order.name, 'handlers'))
const random = createRandom(order.seed)
const orgs = ORGS.slice(0, order.orgs)
let traffic: Traffic | undefined
let freezeBefore = 0

const MOST_TRIES = 100

const say = (line: NodeSaid): void => void process.stdout.write(`${JSON.stringify(line)}\n`)

const log = (level: string, message: string, facts: unknown): void =>
  void process.stderr.write(`${new Date(trueNow()).toISOString()} ${level} ${message} ${JSON.stringify(facts)}\n`)

function habitOf(payload: unknown): Habit | undefined {
  const words = JSON.stringify(payload ?? null)
  return SCHEDULES.find(({ name }) => words.includes(`"chaos ${name}"`))
}

function freezeIfTold(): void {
  if (trueNow() >= freezeBefore) return
  freezeBefore = 0
  process.kill(process.pid, 'SIGSTOP')
}

/** Starts the engine. A database that is away just then is no reason to give up: whoever supervises would try again. */
async function start(): Promise<ManyOrgs> {
  for (let tries = 1; ; tries += 1) {
    const nodeId = (): string => node?.nodeId() ?? ''
    const handler = createHandler({ journal: handlers, random, nodeId, habitOf, begun: freezeIfTold })
    let node: ManyOrgs | undefined
    try {
      node = await startManyOrgs({
        ...{ url: order.url, settings: SETTINGS, agents: AGENTS.map(({ id }) => id), handler },
        log: ({ level, message, facts }) => {
          if (level !== 'debug') log(level, message, facts)
        },
      })
      return node
    } catch (error) {
      if (!isDatabaseAway(error) || tries === MOST_TRIES) throw error
      log('warn', 'the node could not start', String(error))
      await sleep(200)
    }
  }
}

/** Makes what all nodes share. */
async function settleIn(node: ManyOrgs): Promise<readonly MadeSchedule[]> {
  for (const { id, max, retry } of AGENTS)
    await node.of(LARGE_ORG).agents.update(id, {
      max_concurrent: max,
      ...(retry === null ? {} : { retry_policy: retry }),
    })
  const made = await Promise.all(orgs.map((org) => settleOrg(org, node.of(org.id))))
  return made.flat()
}

async function settleOrg({ sessions, schedules }: PlannedOrg, door: OrgDoor): Promise<readonly MadeSchedule[]> {
  const made: MadeSchedule[] = []
  for (const { key, rules } of sessions) if (Object.keys(rules).length > 0) await door.sessions.update(key, rules)
  for (const { name, rules, intervalMs } of schedules) {
    const plan = { ...rules, name, agent_id: 'clock', every_seconds: intervalMs / 1_000 }
    const { id } = await door.schedules.create({ ...plan, payload: { prompt: `chaos ${name}` } })
    made.push({ id, name, intervalMs })
  }
  return made
}

async function disable(door: OrgDoor): Promise<void> {
  const { items } = await door.schedules.list({ limit: 200 })
  for (const { id } of items) await door.schedules.disable(id)
}

async function obey(command: NodeCommand, node: ManyOrgs): Promise<NodeSaid> {
  switch (command) {
    case 'settle_in':
      return { said: 'done', what: command, schedules: await settleIn(node) }
    case 'load': {
      const { name, perSecond } = order
      traffic = startTraffic({ node, orgs, journal: submissions, random, process: name, perSecond })
      break
    }
    case 'rest':
      await traffic?.stop()
      break
    case 'disable':
      await Promise.all(orgs.flatMap(({ id, schedules }) => (schedules.length > 0 ? [disable(node.of(id))] : [])))
      break
    case 'leave':
      await node.stop()
      break
  }
  return { said: 'done', what: command }
}

async function read(node: ManyOrgs, readers: number): Promise<void> {
  const answers = await Promise.allSettled(Array.from({ length: readers }, () => node.of(LARGE_ORG).secrets.list()))
  say({ said: 'readers_done', refused: answers.filter(({ status }) => status === 'rejected').length })
}

function suffer(orders: NodeOrders, node: ManyOrgs): void {
  if ('freezeBefore' in orders) freezeBefore = orders.freezeBefore
  else if ('clockOffMs' in orders) setWallClock(orders.clockOffMs)
  else void read(node, orders.readers)
}

const node = await start()
say({ said: 'ready' })
for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line) as NodeCommand | NodeOrders
  if (typeof command === 'object') {
    suffer(command, node)
    continue
  }
  say(
    await obey(command, node).catch((error: unknown): NodeSaid => ({
      said: 'failed',
      what: command,
      why: String(error),
    })),
  )
  if (command === 'leave') break
}
// Whoever started it is gone, or told it to leave: there is nothing more to do, whatever is still open.
process.exit(0)
