import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { startChild, type Child } from './child.ts'
import type { MadeSchedule, NodeCommand, NodeOrder, NodeSaid } from './node-process.ts'
import type { ProcessRecord } from './records.ts'

/** A process that is, or was, a node. */
export interface Member {
  readonly name: string
  readonly child: Child<NodeSaid>
  readyAt: number | null
  /** Somebody meant it to end. */
  doomed: boolean
}

export interface MemberOptions {
  readonly order: NodeOrder
  /** The program it runs; that of this build unless another is named. */
  readonly entry?: string
}

const ENTRY = fileURLToPath(new URL('./node-process.js', import.meta.url))
const READY_WITHIN_MS = 90_000
const DONE_WITHIN_MS = 90_000

/** Starts a node. Its order and its log are beside its journals. */
export function startMember({ order, entry = ENTRY }: MemberOptions): Member {
  const file = path.join(order.journals, `${order.name}.order.json`)
  writeFileSync(file, JSON.stringify(order), { mode: 0o600 })
  const child = startChild<NodeSaid>(['--enable-source-maps', entry, file], logFile(order.journals, order.name))
  return { name: order.name, child, readyAt: null, doomed: false }
}

/** Waits until the node is at work; rejects with its last words when it does not get there. */
export async function untilReady(member: Member, directory: string): Promise<void> {
  await member.child.hear(isReady, READY_WITHIN_MS).catch((error: unknown) => {
    throw new Error(`node ${member.name} did not get ready: ${lastWords(directory, member.name)}`, { cause: error })
  })
  member.readyAt = Date.now()
}

const isReady = (line: NodeSaid): line is Extract<NodeSaid, { said: 'ready' }> => line.said === 'ready'

type NodeAnswer = Extract<NodeSaid, { readonly what: NodeCommand }>

/** Tells a node, and waits until it has done it. */
export async function tell(member: Member, command: NodeCommand): Promise<readonly MadeSchedule[]> {
  if (command === 'leave') member.doomed = true
  member.child.tell(command)
  const answer = await member.child.hear(
    (line): line is NodeAnswer => 'what' in line && line.what === command,
    DONE_WITHIN_MS,
  )
  if (answer.said === 'failed') throw new Error(`node ${member.name} could not ${command}: ${answer.why}`)
  return answer.schedules ?? []
}

/** What a node wrote on stderr. */
export const wordsOf = (directory: string, name: string): string => readFileSync(logFile(directory, name), 'utf8')

/** The end of it. */
export const lastWords = (directory: string, name: string): string => wordsOf(directory, name).slice(-2_000)

const logFile = (directory: string, name: string): string => path.join(directory, `${name}.log`)

/** From now on its end is meant. */
export function doom(member: Member): Member {
  member.doomed = true
  return member
}

/** Ends whatever still lives of these. */
export async function endAll(members: readonly Member[]): Promise<void> {
  for (const member of members) doom(member).child.signal('SIGKILL')
  await Promise.all(members.map(({ child }) => child.ended))
}

/** The process as the audit wants it. */
export const recordOf = ({ name, readyAt, child }: Member): ProcessRecord => ({
  name,
  readyAt,
  diedAt: child.ending()?.at ?? null,
})

/** A sentence about a node that ended although nobody meant it to. */
export function describeCrash({ name, doomed, child }: Member): readonly string[] {
  const ending = child.ending()
  if (doomed || ending === null) return []
  return [`node ${name} ended by itself with ${String(ending.signal ?? ending.code)}`]
}
