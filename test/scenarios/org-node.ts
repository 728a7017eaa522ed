import { openApp, type App } from '../../src/app.ts'
import type { LogEntry } from '../../src/library/escapement.ts'
import { orgId } from '../../src/domain/ids.ts'
import { inProcess, type Handler } from '../../src/executors/in-process/execute.ts'
import { sendMessage } from '../../src/features/sessions/send.ts'
import { DEFAULT_SETTINGS, parseSettings } from '../../src/features/config/settings.ts'
import type { TestDatabase } from '../support/database.ts'
import { urlOf } from './url.ts'

/** A node that works for every org of its database, as a server does. */
export interface OrgNode {
  readonly app: App
  readonly log: readonly LogEntry[]
  /** Sends a message to the agent `worker` of an org, in a session of its own. */
  readonly send: (org: string, text: string) => Promise<unknown>
  /** Changes settings, as a reload of the file does. */
  readonly set: (change: Record<string, unknown>) => void
  readonly stop: () => Promise<void>
}

let sessions = 0

/** Opens a node whose agent `worker` is this function in every org. It is not started. */
export async function openOrgNode(
  database: TestDatabase,
  handler: Handler,
  settings: Record<string, unknown> = {},
): Promise<OrgNode> {
  const log: LogEntry[] = []
  let current = DEFAULT_SETTINGS
  const set = (change: Record<string, unknown>): void => {
    const read = parseSettings(change, current)
    if (!read.ok) throw new Error(JSON.stringify(read))
    current = read.value
  }
  set(settings)
  const app = await openApp({
    ...{ database: { url: urlOf(database.target) }, settings: () => current, estimate: null },
    executors: new Map([['in-process:worker', inProcess(handler)]]),
    log: (entry) => void log.push(entry),
  })
  const send = (org: string, text: string): Promise<unknown> =>
    sendMessage(
      app.ports,
      { orgId: orgId(org), defaultAgent: () => null, live: app.live, principal: null },
      { key: `agent:worker:test:direct:${(sessions += 1)}`, input: { text } },
    )
  const stop = async (): Promise<void> => {
    app.parts.state.draining = true
    for (const execution of app.parts.executions.all()) execution.abort('shutdown')
    app.parts.stopping.abort()
    await app.loops.stop()
    await Promise.all([...app.parts.actors.values()].map((office) => office.close()))
    await app.close()
  }
  return { app, log, send, set, stop }
}

/** Puts orgs on record, each with an agent `worker`. */
export async function createOrgs(database: TestDatabase, count: number): Promise<readonly string[]> {
  await database.outside(
    `insert into org (id, name, created_at)
       select 'org_' || lpad(i::text, 6, '0'), 'an org', now() from generate_series(1, $1::int) i`,
    [count],
  )
  await database.outside(
    `insert into agent (org_id, id, name, executor, created_at, updated_at)
       select id, 'worker', 'Worker', '{"kind":"in-process"}', now(), now() from org where id like 'org\\_%'`,
  )
  const rows = await database.outside(`select id from org where id like 'org\\_%' order by id`)
  return rows.map((row) => row['id'] as string)
}
