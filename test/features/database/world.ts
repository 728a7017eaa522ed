import { agentId, attemptId, laneName, runId, scheduleId } from '../../../src/domain/ids.ts'
import { later, type Instant } from '../../../src/domain/instant.ts'
import type { Ports } from '../../../src/engine/ports.ts'
import type { Caller } from '../../../src/features/access/caller.ts'
import { DEFAULT_SETTINGS, type EngineSettings } from '../../../src/features/config/settings.ts'
import { loadOrgState } from '../../../src/engine/org-state/load.ts'
import type { NodeCapabilities } from '../../../src/engine/org-state/memory.ts'
import { openVault } from '../../../src/features/secrets/vault.ts'
import { runTransaction } from '../../../src/engine/transaction/transaction.ts'
import { fireCommand } from '../../../src/engine/commands/engine-commands.ts'
import type { Command } from '../../../src/engine/commands-port.ts'
import type { Database } from '../../../src/platform/db/database.ts'
import { insertAgents } from '../../../src/features/agents/store.ts'
import { anAgent, makeOrgs, ORG, OTHER_ORG } from '../../platform/db/records.ts'
import { NOW } from '../../support/builders.ts'
import { createTestDatabase } from '../../support/database.ts'
import { NO_CHANNELS } from '../../support/no-channels.ts'

/** Services on a real database, with real turns, a clock moved by hand and ids that count. */
export interface ServiceWorld {
  readonly db: Database
  readonly ports: Ports
  readonly caller: Caller
  readonly stranger: Caller
  settings: EngineSettings
  now: Instant
  readonly pass: (ms: number) => void
  /** It is the usual moment again, and these tables are empty. */
  readonly startOver: (...tables: readonly string[]) => Promise<void>
  /** Takes a turn with nothing else in it. */
  readonly take: <Answer>(work: Command<Answer>) => Promise<Answer>
  /** Decides what is due of a schedule. */
  readonly fire: (id: string) => Promise<void>
  readonly rows: (text: string) => Promise<readonly Readonly<Record<string, unknown>>[]>
  readonly drop: () => Promise<void>
}

export async function createServiceWorld(): Promise<ServiceWorld> {
  const testDatabase = await createTestDatabase('migrated')
  const db = await testDatabase.open()
  await makeOrgs(db)
  for (const org of [ORG, OTHER_ORG])
    await db.transaction((tx) =>
      insertAgents(tx, [anAgent({ orgId: org }), anAgent({ orgId: org, id: agentId('reader') })]),
    )
  await db.query(`update org set default_agent_id = 'writer'`, [])
  let made = 0
  const vault = await openVault({
    ...{ database: db, now: () => world.now, isEmbedded: false, nodeId: () => 'nod_1' },
    source: { environment: 'a'.repeat(64), file: null },
  })
  const world: ServiceWorld = {
    db,
    caller: { orgId: ORG, principal: 'key_1' },
    stranger: { orgId: OTHER_ORG, principal: 'key_2' },
    settings: DEFAULT_SETTINGS,
    now: NOW,
    pass: (ms) => {
      world.now = later(world.now, ms)
    },
    startOver: async (...tables) => {
      world.now = NOW
      // An org without history begins with its first turn again.
      const emptied = tables.includes('turn') ? [...tables, 'org_version'] : tables
      await db.query(emptied.map((table) => `delete from ${table}`).join('; '))
    },
    take: (work) => takeAlone(world, work),
    fire: (id) => takeAlone(world, fireCommand(ORG, [scheduleId(id)])),
    rows: (text) => db.query(text, []),
    drop: testDatabase.drop,
    ports: {
      database: db,
      commands: { execute: (work) => takeAlone(world, work) },
      clock: { now: () => world.now },
      newId: (kind) => `${kind}_${(made += 1)}`,
      settings: () => world.settings,
      vault,
      channels: NO_CHANNELS,
      outbound: {
        check: () => Promise.resolve(null),
        post: () => Promise.resolve({ ok: true, statusCode: 204 }),
      },
    },
  }
  return world
}

async function takeAlone<Answer>(world: ServiceWorld, work: Command<Answer>): Promise<Answer> {
  const node = factsOf(world)
  const memory = await loadOrgState(world.db, node, work.orgId)
  const context = {
    ...{ database: world.db, node, nodeId: 'nod_1' },
    syncClock: () => world.now,
  }
  const result = await runTransaction(context, memory, {
    ahead: () => [],
    committing: () => undefined,
    commands: () => [work as Command<unknown>],
    offer: () => null,
  })
  const [done] = result.results
  if (done === undefined) throw new Error('the turn did no work')
  if (!done.ok) throw done.refusal
  return done.answer as Answer
}

let ids = 0

function factsOf(world: ServiceWorld): NodeCapabilities {
  return {
    randomSource: {
      random: () => 0.5,
      newRunId: () => runId(`run_${String((ids += 1)).padStart(6, '0')}`),
      newAttemptId: () => attemptId(`att_${(ids += 1)}`),
    },
    settings: () => world.settings,
    canExecute: () => true,
    laneNames: () => new Set([...world.settings.lanes.byName.keys(), laneName('main')]),
    estimate: null,
  }
}
