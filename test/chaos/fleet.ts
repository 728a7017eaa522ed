import type { Hands } from './faults.ts'
import { networkHands } from './hands/network-hands.ts'
import { nodeHands } from './hands/node-hands.ts'
import { serverHands } from './hands/server-hands.ts'
import type { Victims } from './hands/victims.ts'
import { describeCrash, doom, endAll, recordOf, startMember, tell, untilReady, wordsOf, type Member } from './member.ts'
import { openProxy, type Proxy } from './network/proxy.ts'
import type { MadeSchedule, NodeCommand, NodeOrder } from './node-process.ts'
import type { ProcessRecord } from './records.ts'
import type { Server } from './server.ts'

export interface FleetOptions {
  readonly server: Server
  readonly directory: string
  readonly seed: number
  /** Submissions per second of each node. */
  readonly perSecond: number
  readonly slots: number
  readonly orgs: number
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
  /** What else was not as it should be. */
  readonly troubles: () => readonly string[]
  /** Ends whatever still lives. */
  readonly end: () => Promise<void>
}

/** The user under which the processes of a slot connect. */
const userOf = (slot: number): string => `node_${'abcdefgh'[slot] ?? String(slot)}`

/** Starts the first process of every slot. */
export async function startFleet(options: FleetOptions): Promise<Fleet> {
  const members: Member[] = []
  const current: Member[] = []
  const proxies: Proxy[] = []
  const troubles: string[] = []
  let loading = false
  const at = (slot: number): Member => inSlot(current, slot)
  const proxyAt = (slot: number): Proxy => inSlot(proxies, slot)
  const launch = async (slot: number): Promise<Member> => {
    const port = proxyAt(slot).port
    const member = startMember({ order: orderOf(options, { slot, port, count: members.length }) })
    members.push(member)
    current[slot] = member
    await untilReady(member, options.directory)
    if (loading) member.child.tell('load')
    return member
  }
  for (let slot = 0; slot < options.slots; slot += 1) {
    await options.server.addUser(userOf(slot))
    proxies.push(await openProxy({ path: options.server.socket }))
  }
  const end = async (): Promise<void> => {
    await endAll(members)
    await Promise.all(proxies.map((proxy) => proxy.close()))
  }
  await Promise.all(Array.from({ length: options.slots }, (_, slot) => launch(slot))).catch(async (error: unknown) => {
    await end()
    throw error
  })
  const victims: Victims = {
    ...{ server: options.server, slots: options.slots, launch, proxyAt },
    nodeAt: at,
    doomAt: (slot) => doom(at(slot)),
    userAt: userOf,
    wordsOf: (name) => wordsOf(options.directory, name),
    complain: (trouble) => void troubles.push(trouble),
  }
  return {
    hands: { ...nodeHands(victims), ...networkHands(victims), ...serverHands(victims) },
    tellAll: async (command) => {
      loading = command === 'load'
      await Promise.all(current.map((member) => tell(member, command)))
    },
    tellOne: (command) => tell(at(0), command),
    processes: () => members.map(recordOf),
    crashed: () => members.flatMap(describeCrash),
    troubles: () => troubles,
    end,
  }
}

function inSlot<T>(things: readonly T[], slot: number): T {
  const thing = things[slot]
  if (thing === undefined) throw new Error(`there is nothing in slot ${slot}`)
  return thing
}

function orderOf(
  { server, directory, seed, perSecond, orgs }: FleetOptions,
  { slot, port, count }: { readonly slot: number; readonly port: number; readonly count: number },
): NodeOrder {
  return {
    name: `${'abcdefgh'[slot] ?? String(slot)}${count}`,
    url: server.url(userOf(slot), port),
    seed: seed * 1_000 + count,
    journals: directory,
    perSecond,
    orgs,
  }
}
