import { createInterface } from 'node:readline'
import { DatabaseError } from '../../src/platform/db/database-error.ts'
import { type EmbeddedOptions, startEmbedded } from '../../src/platform/db/embedded/embedded.ts'
import type { EmbeddedEvent } from '../../src/platform/db/embedded/running.ts'
import { migrate } from '../../src/platform/db/migrate.ts'
import { openPostgres, type PostgresOptions } from '../../src/platform/db/postgres/postgres.ts'

// A process that does what a node does with its database, one JSON line at a time. The tests start and kill these.

/** What it is told to do, in its first argument. */
export type NodeTask =
  | { readonly kind: 'embedded'; readonly options: Omit<EmbeddedOptions, 'onEvent' | 'random'> }
  | { readonly kind: 'migrate'; readonly options: Pick<PostgresOptions, 'target'>; readonly directory: string }

export type NodeLine =
  | {
      readonly said: 'ready'
      readonly ms: number
      readonly target: PostgresOptions['target']
      readonly news: readonly EmbeddedEvent[]
    }
  | { readonly said: 'news'; readonly news: EmbeddedEvent }
  | { readonly said: 'left'; readonly how: string }
  | { readonly said: 'migrated'; readonly applied: readonly number[] }
  | { readonly said: 'refused'; readonly code: string; readonly message: string }

const say = (line: NodeLine): void => void process.stdout.write(`${JSON.stringify(line)}\n`)

async function runEmbedded(options: EmbeddedOptions): Promise<void> {
  const started = performance.now()
  const news: EmbeddedEvent[] = []
  const tell = (item: EmbeddedEvent): void => {
    news.push(item)
    say({ said: 'news', news: item })
  }
  const server = await startEmbedded({ ...options, onEvent: tell })
  say({ said: 'ready', ms: performance.now() - started, target: server.target, news })
  for await (const line of createInterface({ input: process.stdin })) if (line === 'leave') break
  say({ said: 'left', how: await server.leave() })
}

async function runMigrate(options: Pick<PostgresOptions, 'target'>, directory: string): Promise<void> {
  const database = await openPostgres(options)
  try {
    const { applied } = await migrate(database, { directory })
    say({ said: 'migrated', applied })
  } finally {
    await database.close()
  }
}

const task = JSON.parse(process.argv[2] ?? '') as NodeTask
try {
  if (task.kind === 'embedded') await runEmbedded(task.options)
  else await runMigrate(task.options, task.directory)
} catch (error) {
  if (!(error instanceof DatabaseError)) throw error
  say({ said: 'refused', code: error.code, message: error.message })
}
// The pipe to the test would keep this process alive.
process.stdin.destroy()
