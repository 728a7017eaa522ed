import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sessionKey } from '../../../src/domain/ids.ts'
import { later } from '../../../src/domain/instant.ts'
import type { Database } from '../../../src/platform/db/database.ts'
import { insertSessions, loadSessions, saveSessions, type SessionRow } from '../../../src/features/sessions/store.ts'
import { NOW } from '../../support/builders.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { aSessionRow, makeOrgs, ORG, OTHER_ORG } from './records.ts'

let world: TestDatabase
let db: Database

beforeAll(async () => {
  world = await createTestDatabase('migrated')
  db = await world.open()
  await makeOrgs(db)
})
beforeEach(() => db.query('delete from session', []))
afterAll(() => world.drop())

const insert = (...rows: readonly SessionRow[]): Promise<void> => db.transaction((tx) => insertSessions(tx, rows))
const load = (...keys: readonly string[]): Promise<readonly SessionRow[]> =>
  loadSessions(db, { orgId: ORG, keys: keys.map(sessionKey) })

describe('sessions', () => {
  const full = aSessionRow('agent:writer:telegram:group:"42", {x}', {
    own: { mode: 'interrupt', cap: 3, drop: 'new', debounceMs: 0, maxConcurrent: 3 },
    cutoff: later(NOW, -1),
    generation: 4,
    context: { tokens: 5_000_000_000, contextWindow: 8_000_000_000 },
  })

  it('are read as they were made, those that exist', async () => {
    await insert(full, aSessionRow('plain'))
    expect(await load(full.key, 'plain', 'nobody')).toEqual(expect.arrayContaining([full, aSessionRow('plain')]))
    expect(await load('nobody')).toEqual([])
  })

  it('stay as they are when they are made again', async () => {
    await insert(full)
    await insert(aSessionRow(full.key, { createdAt: later(NOW, 9) }), aSessionRow('new'))
    expect(await load(full.key)).toEqual([full])
    expect(await load('new')).toHaveLength(1)
  })

  it('are written back together, and a rule that is not their own becomes the deployment’s again', async () => {
    await insert(full, aSessionRow('plain'), aSessionRow('plain', { orgId: OTHER_ORG }))
    const changed = [aSessionRow(full.key, { own: { cap: 5 } }), aSessionRow('plain', { generation: 1, cutoff: NOW })]
    await db.transaction((tx) => saveSessions(tx, changed))
    expect(await load(full.key, 'plain')).toEqual(expect.arrayContaining([...changed]))
    const [other] = await loadSessions(db, { orgId: OTHER_ORG, keys: [sessionKey('plain')] })
    expect(other?.generation).toBe(0)
  })
})
