import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { execFile } from 'node:child_process'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startChaosServer, type Server } from '../server.ts'
import type { Tally } from './attacker-process.ts'
import { startAgents, type AgentHost } from './agents.ts'
import { createClient, demand } from './client.ts'
import { parseOptions, type HostileOptions } from './options.ts'
import { createOrg, type TestOrg } from './orgs.ts'
import { describeHostility, type Hostility } from './report.ts'
import { serve, type ServedNode } from './servers.ts'
import { settleIn, work } from './victim.ts'

type Undo = (() => Promise<void>)[]

const print = (line: string): void => void process.stdout.write(`${line}\n`)

const ATTACKER = path.join(path.dirname(fileURLToPath(import.meta.url)), 'attacker-process.js')
const NODES = 2
const MAX_SETTLE_MS = 30_000

/** Two nodes, an org that works, and an org whose member and admin try everything. Answers whether the first noticed nothing. */
async function run(options: HostileOptions, directory: string, undo: Undo): Promise<boolean> {
  const server = await startChaosServer(path.join(directory, 'server'))
  undo.unshift(() => server.stop())
  const agents = await startAgents()
  undo.unshift(() => agents.close())
  const nodes: ServedNode[] = []
  const data = path.join(directory, 'data')
  mkdirSync(data)
  for (let index = 0; index < NODES; index += 1) {
    const log = path.join(directory, `node-${index + 1}.log`)
    const node = await serve({ databaseUrl: server.url(), data, log })
    nodes.push(node)
    undo.unshift(node.stop)
  }
  const urls = nodes.map(({ url }) => url)
  const [url = ''] = urls
  const operator = createClient(url, readFileSync(path.join(data, 'owner.key'), 'utf8').trim())
  const quiet = await createOrg(url, operator, 'quiet')
  const hostile = await createOrg(url, operator, 'hostile')
  await settleIn(createClient(url, quiet.ownerKey), agents.url)
  await giveAgents(url, hostile, agents)
  const untilMs = Date.now() + options.attackMs
  const clients = urls.map((one) => createClient(one, quiet.memberKey))
  const { memberKey: key, adminKey } = hostile
  const { attackers, seed } = options
  const attacking = attack({ urls, key, adminKey, attackers, seed, untilMs })
  const [journal, tally] = await Promise.all([work(clients, { untilMs, perSecond: options.perSecond }), attacking])
  const crashes = nodes.flatMap(({ ending }) => ending() ?? [])
  const { maxP99Ms } = options
  const found = { journal, tally, agents, crashes, maxP99Ms, ...(await settle(server)) }
  const { lines, well } = describeHostility(found)
  for (const line of lines) print(line)
  return well
}

/** Agents that an org may well have: one never answers, one answers nonsense. */
async function giveAgents(url: string, { ownerKey }: TestOrg, agents: AgentHost): Promise<void> {
  const owner = createClient(url, ownerKey)
  for (const id of ['hang', 'deep']) {
    const executor = { kind: 'http', url: `${agents.url}/${id}` }
    await demand(owner, { path: '/api/v1/agents', body: { id, name: id, executor, timeout_seconds: 86_400 } })
  }
}

async function attack(orders: Readonly<Record<string, unknown>>): Promise<Tally> {
  const args = [ATTACKER, JSON.stringify(orders)]
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 2 ** 24 })
  return JSON.parse(stdout) as Tally
}

/** Waits until nothing of the quiet org is under way, and counts how its runs ended. */
async function settle(server: Server): Promise<Pick<Hostility, 'runs' | 'repeated'>> {
  const client = await server.connect()
  try {
    await client.query('set search_path to escapement')
    const pending = async (): Promise<number> => {
      const { rows } = await client.query<{ count: number }>(
        `select count(*)::int as count from run r
          where r.org_id = 'quiet' and r.schedule_id is null and r.state is null`,
      )
      return rows[0]?.count ?? 0
    }
    for (const end = Date.now() + MAX_SETTLE_MS; Date.now() < end && (await pending()) > 0;) await sleep(200)
    const { rows } = await client.query<{ state: string | null; count: number; repeated: number }>(
      `select state, count(*)::int as count, sum(attempt - 1)::int as repeated from run
        where org_id = 'quiet' and (schedule_id is null or state is not null) group by state`,
    )
    return {
      runs: Object.fromEntries(rows.map(({ state, count }) => [state ?? 'pending', count])),
      repeated: rows.reduce((sum, row) => sum + row.repeated, 0),
    }
  } finally {
    await client.end()
  }
}

/** Runs it and cleans up, however it ends. The directory is kept when there is something to look at in it. */
export async function main(args: readonly string[]): Promise<number> {
  const options = parseOptions(args)
  if (typeof options === 'string') {
    process.stderr.write(`${options}\n`)
    return 2
  }
  const directory = mkdtempSync(path.join(os.tmpdir(), 'escapement-hostile-'))
  // As root the server runs as another user, who has to get in.
  chmodSync(directory, 0o755)
  print(`seed ${options.seed}, ${(options.attackMs / 60_000).toFixed(1)} minutes of attacks`)
  const undo: Undo = []
  const cleanUp = async (): Promise<void> => {
    for (const step of undo.splice(0)) await step().catch(() => undefined)
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      void cleanUp().finally(() => {
        print(`interrupted; logs and database: ${directory}`)
        process.exit(1)
      })
    })
  let well = false
  try {
    well = await run(options, directory, undo)
  } catch (error) {
    print(error instanceof Error ? (error.stack ?? error.message) : String(error))
  }
  await cleanUp()
  if (well && !options.keep) rmSync(directory, { recursive: true, force: true })
  else print(`logs and database: ${directory}`)
  return well ? 0 : 1
}
