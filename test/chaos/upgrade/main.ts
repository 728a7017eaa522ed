import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { audit } from '../audit/audit.ts'
import { collect } from '../deployment.ts'
import { endAll, recordOf, type Member } from '../member.ts'
import { startChaosServer } from '../server.ts'
import { parseOptions, type UpgradeOptions } from './options.ts'
import { complaintsOf, describeUpgrade } from './report.ts'
import { rollOut } from './rollout.ts'
import { chooseCommit, type KnownCommit, type Workshop } from './workshop.ts'

const NOT_RUN = 3

const print = (line: string): void => void process.stdout.write(`${line}\n`)

type Undo = (() => Promise<void>)[]

/** Set once somebody has had enough: what fails from then on is no news. */
const interruption = { happened: false }

/** One upgrade in a directory of its own. Answers whether it went well. */
async function upgradeFrom(
  known: KnownCommit,
  { workshop, options, undo }: { readonly workshop: Workshop; readonly options: UpgradeOptions; readonly undo: Undo },
): Promise<boolean> {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'escapement-upgrade-'))
  // As root the server runs as another user, who has to get in.
  chmodSync(directory, 0o755)
  print(
    `from ${known.commit.slice(0, 7)} (${known.subject}), ${known.migrations} migrations, to ${workshop.migrations}`,
  )
  undo.push(async () => {
    if (interruption.happened && !options.keep) await rm(directory, { recursive: true, force: true })
  })
  let well = false
  try {
    well = await tryUpgrade(known, { workshop, options, undo, directory })
    return well
  } finally {
    await cleanUp(undo)
    if (well && !options.keep) rmSync(directory, { recursive: true, force: true })
    else if (!interruption.happened) print(`journals, logs and database: ${directory}`)
  }
}

async function tryUpgrade(
  known: KnownCommit,
  of: {
    readonly workshop: Workshop
    readonly options: UpgradeOptions
    readonly undo: Undo
    readonly directory: string
  },
): Promise<boolean> {
  const { workshop, options, undo } = of
  const old = workshop.build(known.commit)
  const starting = startChaosServer(path.join(of.directory, 'server'))
  // Whoever cleans up while it starts waits for it, so that it is not left behind.
  undo.unshift(async () => (await starting).stop())
  const server = await starting
  const directory = path.join(of.directory, 'journals')
  mkdirSync(directory)
  const members: Member[] = []
  undo.unshift(() => endAll(members))
  const rollout = await rollOut({
    ...{ server, old, directory, seed: options.seed, perSecond: options.perSecond, phaseMs: options.phaseMs },
    migratedBy: options.seed % 2 === 0 ? 'node' : 'command',
    isNewer: workshop.migrations > known.migrations,
    started: (member) => members.push(member),
    say: (line) => print(`  ${line}`),
  })
  const records = await collect(server, rollout.members.map(recordOf), { suffered: rollout, directory })
  const upgraded = {
    ...{ from: known.migrations, to: workshop.migrations, audit: audit(records), load: records.load },
    ...{ handled: records.handled, submissions: records.submissions, mixed: rollout.mixed },
    ...{ migratedInMs: rollout.migratedInMs, troubles: rollout.troubles, errors: readErrors(directory) },
  }
  const complaints = complaintsOf(upgraded)
  for (const line of [...complaints, ...describeUpgrade(upgraded)]) print(line)
  return complaints.length === 0
}

/** Expected errors about a killed node: the text of this release, and the one of releases up to 0.1.0. */
const ABOUT_KILLED_NODES = ['The engine of a node has stalled ', 'The engine of a node stands still ']

/** Errors in the logs of all nodes. The late node that is refused has logged none: it never got that far. */
function readErrors(directory: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const file of readdirSync(directory).filter((name) => name.endsWith('.log')))
    for (const [, message = ''] of readFileSync(path.join(directory, file), 'utf8').matchAll(/^\S+Z error (.*)$/gm))
      if (!ABOUT_KILLED_NODES.some((text) => message.startsWith(text)))
        counts.set(message, (counts.get(message) ?? 0) + 1)
  return counts
}

async function cleanUp(undo: Undo): Promise<void> {
  for (const step of undo.splice(0)) await step().catch(() => undefined)
}

/** Runs the upgrade, and cleans up, however it ends. */
export async function main(args: readonly string[], workshop: Workshop): Promise<number> {
  const options = parseOptions(args)
  if (typeof options === 'string') {
    process.stderr.write(`${options}\n`)
    return 2
  }
  const known = chooseCommit(workshop, options.from)
  if (typeof known === 'string') {
    print(`upgrade not run: ${known}`)
    return NOT_RUN
  }
  const undo: Undo = []
  const interrupted = (): void => {
    interruption.happened = true
    print('interrupted')
    void cleanUp(undo).finally(() => process.exit(1))
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, interrupted)
  print(`seed ${options.seed}`)
  const well = await upgradeFrom(known, { workshop, options, undo }).catch((error: unknown) => {
    if (!interruption.happened) print(error instanceof Error ? (error.stack ?? error.message) : String(error))
    return false
  })
  // The handler of the interruption ends the process once it has cleaned up.
  if (interruption.happened) await new Promise(() => undefined)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.removeListener(signal, interrupted)
  return well ? 0 : 1
}
