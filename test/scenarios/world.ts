import { it, vi } from 'vitest'
import type { Escapement, EscapementOptions, LogEntry } from '../../src/library/escapement.ts'
import { createEscapement } from '../../src/index.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { urlOf } from './url.ts'

// They wait more than they work.
vi.setConfig({ maxConcurrency: 8 })

/** A database of its own and the nodes that a test starts on it. */
export interface World {
  readonly database: TestDatabase
  readonly url: string
  /** What all nodes have said. */
  readonly log: readonly LogEntry[]
  /** Starts a node that is stopped with the world at the latest. */
  readonly start: (options?: Omit<EscapementOptions, 'database'>) => Promise<Escapement>
}

/** A test on a world of its own. They run side by side, because most of their time is spent waiting for real clocks. */
export const scenario = (name: string, play: (world: World) => Promise<void>, timeoutMs?: number): void =>
  it.concurrent(name, () => inWorld(play), timeoutMs)

/** Like `scenario`, alone: for what cannot share its process or must not be disturbed. */
export const loneScenario = (name: string, play: (world: World) => Promise<void>, timeoutMs?: number): void =>
  it(name, () => inWorld(play), timeoutMs)

async function inWorld(play: (world: World) => Promise<void>): Promise<void> {
  const database = await createTestDatabase()
  const nodes: Escapement[] = []
  const log: LogEntry[] = []
  const url = urlOf(database.target)
  const start: World['start'] = async (options = {}) => {
    const node = createEscapement({ log: (entry) => void log.push(entry), ...options, database: { url, pool: 4 } })
    nodes.push(node)
    await node.start()
    return node
  }
  const end = async (): Promise<void> => {
    await Promise.all(nodes.map((node) => node.stop('now')))
    await database.drop()
  }
  try {
    await play({ database, url, log, start })
  } catch (error) {
    // What went wrong first is what the test has to tell.
    await end().catch(() => undefined)
    throw error
  }
  await end()
}
