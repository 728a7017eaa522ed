import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom } from '../simulation/random.ts'
import { audit } from './audit/audit.ts'
import { findBacklogFlaws, watchLeases } from './database-record.ts'
import { collect, prepareDatabase, settle, ticking, type Suffered } from './deployment.ts'
import { FAULT_NAMES } from './fault-kinds.ts'
import { driveFaults, planFaults, type FaultRecord } from './faults.ts'
import { startFleet, type Fleet } from './fleet.ts'
import { parseOptions, type ChaosOptions } from './options.ts'
import { complaintsOf, describeRun } from './report.ts'
import { startChaosServer, type Server } from './server.ts'
import { LEASE_MS } from './world.ts'

const SLOTS = 3

/** A schedule has this long to decide its last occurrences before it is disabled. */
const LAST_TICKS_MS = 3_000

const print = (line: string): void => void process.stdout.write(`${line}\n`)

interface Torment extends Suffered {
  readonly crashes: readonly string[]
  readonly troubles: readonly string[]
}

/** Load and faults, then quiet, until everything has settled or its time is over. */
async function torment(server: Server, fleet: Fleet, options: ChaosOptions): Promise<Omit<Torment, 'leases'>> {
  const made = await fleet.tellOne('settle_in')
  await fleet.tellAll('load')
  const from = Date.now()
  const settings = { slots: SLOTS, leaseMs: LEASE_MS, kinds: options.kinds }
  const faults = await driveFaults(planFaults(createRandom(options.seed), settings), {
    hands: fleet.hands,
    slots: SLOTS,
    now: Date.now,
    sleep: (ms) => sleep(ms),
    until: from + options.loadMs,
    tell: (fault) => {
      if (options.verbose) print(describeFault(fault, from))
    },
  })
  await sleep(Math.max(0, from + options.loadMs - Date.now()))
  const until = Date.now()
  const early = await findBacklogFlaws(server)
  await fleet.tellAll('rest')
  await sleep(LAST_TICKS_MS)
  await fleet.tellOne('disable')
  const pending = await settle(server)
  const troubles = [
    ...fleet.troubles(),
    ...(pending === 0 ? [] : [`${pending} runs have not settled`]),
    ...early,
    ...(await findBacklogFlaws(server)),
  ]
  const crashes = fleet.crashed()
  await fleet.tellAll('leave')
  return {
    ...{ faults, load: { from, until }, crashes, troubles },
    schedules: made.map((schedule) => ticking(schedule, until)),
  }
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1).padStart(6)} s`

const describeFault = ({ kind, process, how, from, until }: FaultRecord, start: number): string =>
  [seconds(from - start), seconds(until - from), FAULT_NAMES[kind], process, how === undefined ? null : `(${how})`]
    .filter((word) => word !== null)
    .join(' ')

/** The whole thing, in a directory of its own. Answers whether it went well. */
async function run(options: ChaosOptions, directory: string, undo: (() => Promise<void>)[]): Promise<boolean> {
  const server = await startChaosServer(path.join(directory, 'server'))
  undo.unshift(() => server.stop())
  await prepareDatabase(server, options)
  const journals = path.join(directory, 'journals')
  mkdirSync(journals)
  const { seed, perSecond, orgs } = options
  const fleet = await startFleet({
    ...{ server, directory: journals, seed, perSecond: perSecond / SLOTS, slots: SLOTS, orgs },
  })
  undo.unshift(() => fleet.end())
  const leases = watchLeases(server)
  const suffered = await torment(server, fleet, options)
    .then(async (rest) => ({ ...rest, leases: await leases.stop() }))
    .catch(async (error: unknown) => {
      await leases.stop()
      throw error
    })
  const found = audit(await collect(server, fleet.processes(), { suffered, directory: journals }))
  const told = {
    seed,
    nodes: SLOTS,
    orgs,
    loadMs: suffered.load.until - suffered.load.from,
    ...{ audit: found, kinds: options.kinds, faults: suffered.faults },
    ...{ crashes: suffered.crashes, troubles: suffered.troubles },
  }
  const complaints = complaintsOf(told, options.demands)
  if (complaints.length > 0) print(`journals, logs and database: ${directory}`)
  for (const line of [...complaints, ...describeRun(told)]) print(line)
  return complaints.length === 0
}

/** Runs it and cleans up, however it ends. The directory is kept when there is something to look at in it. */
export async function main(args: readonly string[]): Promise<number> {
  const options = parseOptions(args)
  if (typeof options === 'string') {
    process.stderr.write(`${options}\n`)
    return 2
  }
  const directory = mkdtempSync(path.join(os.tmpdir(), 'escapement-chaos-'))
  // As root the server runs as another user, who has to get in.
  chmodSync(directory, 0o755)
  print(`seed ${options.seed}, ${(options.loadMs / 60_000).toFixed(1)} minutes of load`)
  const undo: (() => Promise<void>)[] = []
  const cleanUp = async (): Promise<void> => {
    for (const step of undo.splice(0)) await step().catch(() => undefined)
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      void cleanUp().finally(() => {
        print(`interrupted; journals, logs and database: ${directory}`)
        process.exit(1)
      })
    })
  let well = false
  try {
    well = await run(options, directory, undo)
    return well ? 0 : 1
  } catch (error) {
    print(`journals, logs and database: ${directory}`)
    print(error instanceof Error ? (error.stack ?? error.message) : String(error))
    return 1
  } finally {
    await cleanUp()
    if (well && !options.keep) rmSync(directory, { recursive: true, force: true })
  }
}
