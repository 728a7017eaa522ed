// The result files: bench/results/comparison.json for a complete run, another file for a run of some parts.
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { versionIn, versionsOf } from '../peers/install.mjs'
import { redisVersion } from './redis.mjs'

const ROOT = path.join(path.dirname(fileURLToPath(import.meta.url)), '../..')
const FOLDER = path.join(ROOT, 'bench/results')
const METHOD =
  'One run on one machine. Every contestant runs in a separate process under the same Node, every measurement on an empty ' +
  'store, in interleaved rounds; median and range of the rounds. PostgreSQL with fsync on and Redis with an append-only ' +
  'file, both over a Unix socket. Completed jobs are counted in the store of each contestant and must equal the submitted.'

/** Collects the parts of a run and keeps the file up to date, so that an interrupted run keeps its results. */
export function createResults({ wanted, nodeVersion, contestants, absent }) {
  const results = {
    when: new Date().toISOString(),
    quick: wanted.quick,
    rounds: wanted.rounds,
    machine: {
      ...{ processor: `${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown'}` },
      ...{ memoryGiB: Math.round(totalmem() / 2 ** 30), platform: `${process.platform}-${process.arch}` },
      ...{ node: nodeVersion, postgres: null, redis: redisVersion() ?? null },
    },
    versions: { escapement: versionIn(ROOT), ...versionsOf(contestants.flatMap(({ packages }) => packages)) },
    contestants: contestants.map(({ name, engine, durable, appendfsync }) => ({ name, engine, durable, appendfsync })),
    absent,
    method: METHOD,
    parts: {},
  }
  const save = () => writeResults(fileNameOf(wanted), results)
  return {
    parts: results.parts,
    notePostgres: async (server) => {
      if (server !== undefined) results.machine.postgres ??= await versionOf(server)
    },
    add: (name, part) => {
      results.parts[name] = part
      save()
    },
    finish: (last) => {
      Object.assign(results, last)
      return save()
    },
  }
}

/** A complete run has its own file name, so only another complete run replaces it. */
export const fileNameOf = ({ whole, quick, parts }) =>
  `${whole ? 'comparison' : parts.join('+')}${quick ? '-quick' : ''}.json`

async function versionOf(server) {
  const client = await server.connect()
  const { rows } = await client.query('show server_version')
  await client.end()
  return rows[0].server_version
}

/** Returns the file. The folder contains its own .gitignore, because figures of one machine don't belong in the repository. */
export function writeResults(name, results) {
  const file = path.join(FOLDER, name)
  mkdirSync(FOLDER, { recursive: true })
  writeFileSync(path.join(FOLDER, '.gitignore'), '*\n')
  writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`)
  return file
}
