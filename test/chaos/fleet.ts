import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { startChild, type Child } from './child.ts'
import type { Hands } from './faults.ts'
import type { FreezeOrder, MadeSchedule, NodeCommand, NodeOrder, NodeSaid } from './node-process.ts'
import type { ProcessRecord } from './records.ts'
import type { Server } from './server.ts'

export interface FleetOptions {
  readonly server: Server
  readonly directory: string
  readonly seed: number
  /** Submissions per second of each node. */
  readonly perSecond: number
  readonly slots: number
}

/** The nodes: one process per slot at a time, a new one after each kill. */
export interface Fleet {
  readonly hands: Hands
  /** Tells every node, and waits until all have done it. */
  readonly tellAll: (command: NodeCommand) => Promise<void>
  /** Tells the first node. */
  readonly tellOne: (command: NodeCommand) => Promise<readonly MadeSchedule[]>
  readonly processes: () => readonly ProcessRecord[]
  /** Nodes that ended although nobody killed them. */
  readonly crashed: () => readonly string[]
  /** Ends whatever still lives. */
  readonly end: () => Promise<void>
}

interface Member {
  readonly name: string
  readonly child: Child<NodeSaid>
  readyAt: number | null
  /** Somebody meant it to end. */
  doomed: boolean
}

const ENTRY = fileURLToPath(new URL('./node-process.js', import.meta.url))
const READY_WITHIN_MS = 30_000
const DONE_WITHIN_MS = 40_000
const FREEZE_WITHIN_MS = 250

/** The user under which the processes of a slot connect. */
const userOf = (slot: number): string => `node_${'abcdefgh'[slot] ?? String(slot)}`

/** Starts the first process of every slot. */
export async function startFleet(options: FleetOptions): Promise<Fleet> {
  const members: Member[] = []
  const current: Member[] = []
  let loading = false
  const launch = async (slot: number): Promise<Member> => {
    const member = startMember(options, slot, members.length)
    members.push(member)
    current[slot] = member
    await member.child.hear(isReady, READY_WITHIN_MS).catch((error: unknown) => {
      throw new Error(`node ${member.name} did not get ready: ${lastWords(options.directory, member.name)}`, {
        cause: error,
      })
    })
    member.readyAt = Date.now()
    if (loading) member.child.tell('load')
    return member
  }
  for (let slot = 0; slot < options.slots; slot += 1) await options.server.addUser(userOf(slot))
  const end = async (): Promise<void> => {
    for (const member of members) {
      member.doomed = true
      member.child.signal('SIGKILL')
    }
    await Promise.all(members.map(({ child }) => child.ended))
  }
  await Promise.all(Array.from({ length: options.slots }, (_, slot) => launch(slot))).catch(async (error: unknown) => {
    await end()
    throw error
  })
  const at = (slot: number): Member => {
    const member = current[slot]
    if (member === undefined) throw new Error(`there is no node ${slot}`)
    return member
  }
  return {
    hands: handsOf(options.server, at, launch),
    tellAll: async (command) => {
      loading = command === 'load'
      await Promise.all(current.map((member) => tell(member, command)))
    },
    tellOne: (command) => tell(at(0), command),
    processes: () => members.map(recordOf),
    crashed: () => members.flatMap(describeCrash),
    end,
  }
}

function startMember({ server, directory, seed, perSecond }: FleetOptions, slot: number, count: number): Member {
  const name = `${'abcdefgh'[slot] ?? String(slot)}${count}`
  const order: NodeOrder = {
    name,
    url: server.url(userOf(slot)),
    seed: seed * 1_000 + count,
    journals: directory,
    perSecond,
  }
  const file = path.join(directory, `${name}.order.json`)
  writeFileSync(file, JSON.stringify(order), { mode: 0o600 })
  const child = startChild<NodeSaid>(['--enable-source-maps', ENTRY, file], logFile(directory, name))
  return { name, child, readyAt: null, doomed: false }
}

const isReady = (line: NodeSaid): line is Extract<NodeSaid, { said: 'ready' }> => line.said === 'ready'

async function tell(member: Member, command: NodeCommand): Promise<readonly MadeSchedule[]> {
  if (command === 'leave') member.doomed = true
  member.child.tell(command)
  const answer = await member.child.hear(
    (line): line is Exclude<NodeSaid, { said: 'ready' }> => line.said !== 'ready' && line.what === command,
    DONE_WITHIN_MS,
  )
  if (answer.said === 'failed') throw new Error(`node ${member.name} could not ${command}: ${answer.why}`)
  return answer.schedules ?? []
}

function handsOf(server: Server, at: (slot: number) => Member, launch: (slot: number) => Promise<Member>): Hands {
  return {
    kill: async (slot, awayMs) => {
      const { name, child } = doom(at(slot))
      child.signal('SIGKILL')
      await child.ended
      await sleep(awayMs)
      await launch(slot)
      return name
    },
    stop: async (slot, lastsMs, amid) => {
      const { name, child } = at(slot)
      if (amid) await freezeAmid(child)
      child.signal('SIGSTOP')
      await sleep(lastsMs).finally(() => child.signal('SIGCONT'))
      return name
    },
    cut: async (slot) => {
      const cut = await server.cut(userOf(slot))
      return cut === 0 ? null : at(slot).name
    },
    restart: (awayMs) => server.restart(awayMs),
  }
}

/** The end of what a node wrote on stderr. */
const lastWords = (directory: string, name: string): string =>
  readFileSync(logFile(directory, name), 'utf8').slice(-2_000)

const logFile = (directory: string, name: string): string => path.join(directory, `${name}.log`)

/** Has the node stop itself while it starts work. One that starts nothing in time is stopped like any other. */
async function freezeAmid(child: Child<NodeSaid>): Promise<void> {
  const order: FreezeOrder = { freezeBefore: Date.now() + FREEZE_WITHIN_MS }
  child.tell(order)
  // An order that is read too late must not freeze a node that nobody wakes any more.
  await sleep(FREEZE_WITHIN_MS + 20)
}

function doom(member: Member): Member {
  member.doomed = true
  return member
}

const recordOf = ({ name, readyAt, child }: Member): ProcessRecord => ({
  name,
  readyAt,
  diedAt: child.ending()?.at ?? null,
})

function describeCrash({ name, doomed, child }: Member): readonly string[] {
  const ending = child.ending()
  if (doomed || ending === null) return []
  return [`node ${name} ended by itself with ${String(ending.signal ?? ending.code)}`]
}
