import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import { startEmbedded } from '../../src/platform/db/embedded/embedded.ts'
import { migrate } from '../../src/platform/db/migrate.ts'
import { openPostgres } from '../../src/platform/db/postgres/postgres.ts'
import type { ConnectionTarget } from '../../src/platform/db/postgres/target.ts'
import { runOn, withDatabase } from '../support/server-databases.ts'
import type { Said, ThreadTask } from './thread.ts'

const USAGE = `usage: npm run agree [-- options]
  --seeds 10000   how many histories are compared
  --from 0        the first seed; histories of other seeds are other histories
  --threads N     as many as there are cores`

const print = (line: string): void => void process.stdout.write(`${line}\n`)

interface Options {
  readonly from: number
  readonly seeds: number
  readonly threads: number
}

function readOptions(args: readonly string[]): Options | string {
  try {
    const options = { seeds: { type: 'string' }, from: { type: 'string' }, threads: { type: 'string' } } as const
    const { values } = parseArgs({ args: [...args], strict: true, options })
    const read = {
      from: Number(values.from ?? 0),
      seeds: Number(values.seeds ?? 10_000),
      threads: Number(values.threads ?? availableParallelism()),
    }
    const isSound = Object.values(read).every((one) => Number.isInteger(one) && one >= 0)
    return isSound && read.threads > 0 && read.seeds > 0 ? read : `whole numbers are needed\n${USAGE}`
  } catch (error) {
    return `${error instanceof Error ? error.message : String(error)}\n${USAGE}`
  }
}

/** While one history waits for its database, others of the same thread have the core. */
const STREAMS = 3

/** Compares the simulation of many histories with what the services write. Answers with the exit code. */
export async function main(args: readonly string[]): Promise<number> {
  const options = readOptions(args)
  if (typeof options === 'string') {
    process.stderr.write(`${options}\n`)
    return 2
  }
  const directory = mkdtempSync(path.join(tmpdir(), 'escapement-agreement-'))
  chmodSync(directory, 0o755)
  process.on('exit', () => {
    rmSync(directory, { recursive: true, force: true })
  })
  const embedded = await startEmbedded({
    data: path.join(directory, 'data'),
    systemDirectory: path.join(directory, 'system'),
  })
  try {
    return await compareAll(embedded.target, options)
  } finally {
    await embedded.leave()
  }
}

async function compareAll(server: ConnectionTarget, { from, seeds, threads }: Options): Promise<number> {
  const targets = await makeDatabases(server, threads * STREAMS)
  const next = new Int32Array(new SharedArrayBuffer(4))
  next[0] = from
  const counts = new Map<string, number>()
  let [over, disagreements] = [0, 0]
  const began = performance.now()
  const hear = (said: Said): void => {
    if (said.kind === 'met') {
      for (const [what, count] of said.counts) counts.set(what, (counts.get(what) ?? 0) + count)
      return
    }
    over += 1
    if (said.differs !== null) {
      disagreements += 1
      print(said.differs)
    }
    if (over % 500 === 0) print(`${over} of ${seeds} histories, ${seconds(began)}, ${disagreements} disagreements`)
  }
  const share = (index: number): readonly ConnectionTarget[] => targets.slice(index * STREAMS, (index + 1) * STREAMS)
  await Promise.all(
    Array.from({ length: threads }, (_, index) => runThread({ targets: share(index), next, end: from + seeds }, hear)),
  )
  print(
    [...counts]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([what, count]) => `${what} ${count}`)
      .join(', '),
  )
  print(`in ${seconds(began)} with ${threads} threads, seeds ${from} to ${from + seeds - 1}`)
  print(`${over} histories, ${disagreements} disagreements`)
  return disagreements === 0 && over === seeds ? 0 : 1
}

const seconds = (began: number): string => `${((performance.now() - began) / 1_000).toFixed(0)} s`

const TEMPLATE = 'agreement_template'

async function makeDatabases(server: ConnectionTarget, count: number): Promise<readonly ConnectionTarget[]> {
  // Nothing here has to survive a power cut.
  await runOn(server, 'alter system set fsync = off')
  await runOn(server, 'select pg_reload_conf()')
  await runOn(server, `create database ${TEMPLATE} template template0`)
  const database = await openPostgres({ target: withDatabase(server, TEMPLATE) })
  try {
    await migrate(database)
  } finally {
    await database.close()
  }
  const targets: ConnectionTarget[] = []
  for (let index = 0; index < count; index += 1) {
    await runOn(server, `create database agreement_${index} template ${TEMPLATE}`)
    targets.push(withDatabase(server, `agreement_${index}`))
  }
  return targets
}

function runThread(task: ThreadTask, hear: (said: Said) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./thread.js', import.meta.url), { workerData: task })
    worker.on('message', hear)
    worker.on('error', reject)
    worker.on('exit', (code) => {
      if (code === 0) resolve()
      else reject(new Error(`a thread ended with ${code}`))
    })
  })
}
