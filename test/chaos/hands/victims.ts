import type { Child } from '../child.ts'
import type { Proxy } from '../network/proxy.ts'
import type { NodeSaid } from '../node-process.ts'
import type { Server } from '../server.ts'

/** The process that is in a slot just now. */
export interface Node {
  readonly name: string
  readonly child: Child<NodeSaid>
}

/** Everything there is to do harm to. */
export interface Victims {
  readonly server: Server
  readonly slots: number
  readonly nodeAt: (slot: number) => Node
  /** The same, and whoever finds it dead knows that it was meant to be. */
  readonly doomAt: (slot: number) => Node
  /** Starts the next process of a slot. */
  readonly launch: (slot: number) => Promise<unknown>
  /** The road between a slot and the server. */
  readonly proxyAt: (slot: number) => Proxy
  /** The user under which the processes of a slot connect. */
  readonly userAt: (slot: number) => string
  /** What a node has written on stderr so far. */
  readonly wordsOf: (name: string) => string
  /** Something is not as it should be, although the run can go on. */
  readonly complain: (trouble: string) => void
}
