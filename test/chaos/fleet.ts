import { setTimeout as sleep } from 'node:timers/promises'
import type { Child } from './child.ts'
import type { Hands } from './faults.ts'
import { describeCrash, doom, endAll, recordOf, startMember, tell, untilReady, type Member } from './member.ts'
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

const FREEZE_WITHIN_MS = 250

/** The user under which the processes of a slot connect. */
const userOf = (slot: number): string => `node_${'abcdefgh'[slot] ?? String(slot)}`

/** Starts the first process of every slot. */
export async function startFleet(options: FleetOptions): Promise<Fleet> {
  const members: Member[] = []
  const current: Member[] = []
  let loading = false
  const launch = async (slot: number): Promise<Member> => {
    const member = startMember({ order: orderOf(options, slot, members.length) })
    members.push(member)
    current[slot] = member
    await untilReady(member, options.directory)
    if (loading) member.child.tell('load')
    return member
  }
  for (let slot = 0; slot < options.slots; slot += 1) await options.server.addUser(userOf(slot))
  const end = (): Promise<void> => endAll(members)
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

function orderOf({ server, directory, seed, perSecond }: FleetOptions, slot: number, count: number): NodeOrder {
  return {
    name: `${'abcdefgh'[slot] ?? String(slot)}${count}`,
    url: server.url(userOf(slot)),
    seed: seed * 1_000 + count,
    journals: directory,
    perSecond,
  }
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

/** Has the node stop itself while it starts work. One that starts nothing in time is stopped like any other. */
async function freezeAmid(child: Child<NodeSaid>): Promise<void> {
  const order: FreezeOrder = { freezeBefore: Date.now() + FREEZE_WITHIN_MS }
  child.tell(order)
  // An order that is read too late must not freeze a node that nobody wakes any more.
  await sleep(FREEZE_WITHIN_MS + 20)
}
