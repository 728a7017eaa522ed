import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sessionKey, type OrgId } from '../../../src/domain/ids.ts'
import { formatInstant, later } from '../../../src/domain/instant.ts'
import { updateAgent, createAgent, deleteAgent } from '../../../src/features/agents/service.ts'
import { listAudit, verifyAudit } from '../../../src/features/audit/service.ts'
import { canonicalJson, maskSecrets } from '../../../src/features/audit/entry.ts'
import { updateBudget, createBudget, deleteBudget } from '../../../src/features/budgets/service.ts'
import { getOrCreateLane, setLane } from '../../../src/features/lanes/service.ts'
import { sendMessage } from '../../../src/features/sessions/send.ts'
import { stopSessionCommand } from '../../../src/features/sessions/service.ts'
import { retryRun } from '../../../src/features/runs/retry.ts'
import { cancelRunById, runScheduleNow } from '../../../src/features/runs/service.ts'
import {
  updateSchedule,
  createSchedule,
  deleteSchedule,
  disableSchedule,
  enableSchedule,
} from '../../../src/features/schedules/service.ts'
import { updateSession } from '../../../src/features/sessions/view.ts'
import { submitTask } from '../../../src/features/tasks/service.ts'
import { resetSessionCommand } from '../../../src/engine/commands/engine-commands.ts'
import { ORG, OTHER_ORG } from '../../platform/db/records.ts'
import { createServiceWorld, type ServiceWorld } from './world.ts'

let world: ServiceWorld

beforeAll(async () => {
  world = await createServiceWorld()
})
afterAll(() => world.drop())

const newest = async (count = 1) => (await listAudit(world.ports, world.caller, { limit: count })).items
const live = {
  stateOf: () => undefined,
  positionOf: () => null,
  queuedBefore: () => null,
  explainOutside: () => null,
  explain: () => null,
}
const message = (text: string, key = 's') =>
  sendMessage(
    world.ports,
    { ...world.caller, defaultAgent: () => null, live },
    { key: `agent:writer:${key}`, input: { text, sender: 'ann', debounce_ms: 0 } },
  )

describe('what is on record', () => {
  it('is the whole life of a schedule, with what differs', async () => {
    const { ports, caller } = world
    const { id } = await createSchedule(ports, caller, { name: 'daily', every_seconds: 60, payload: 'hi' })
    await updateSchedule(ports, caller, { id, change: { name: 'weekly' } })
    await disableSchedule(ports, caller, { id })
    await enableSchedule(ports, caller, { id })
    const { run_id: runId } = await runScheduleNow(ports, caller, { id, mode: 'force' })
    await deleteSchedule(ports, caller, { id })
    const [gone, ran, enabled, disabled, updated, made] = await newest(6)
    expect(made).toMatchObject({
      ...{ no: 1, actor: 'key_1', action: 'schedule.create', object: { kind: 'schedule', id }, before: null },
      after: { id, name: 'daily', payload: { prompt: 'hi' } },
    })
    expect(updated).toMatchObject({
      ...{ action: 'schedule.update', before: { name: 'daily', version: 1 }, after: { name: 'weekly', version: 2 } },
    })
    expect(updated?.before).not.toHaveProperty('payload')
    expect(disabled).toMatchObject({ action: 'schedule.disable', after: { state: 'paused', enabled: false } })
    expect(enabled).toMatchObject({ action: 'schedule.enable', before: { enabled: false }, after: { enabled: true } })
    expect(ran).toMatchObject({ action: 'schedule.run_now', after: { run_id: runId, mode: 'force' } })
    expect(gone).toMatchObject({ action: 'schedule.delete', before: { id, name: 'weekly' }, after: null })
  })

  it('is what happens to agents, budgets, lanes and sessions', async () => {
    const { ports, caller } = world
    await createAgent(ports, caller, { id: 'poet', name: 'Poet', executor: { kind: 'echo' } })
    await updateAgent(ports, caller, { id: 'poet', change: { max_concurrent: 2 } })
    await deleteAgent(ports, caller, { id: 'poet' })
    const budget = await createBudget(ports, caller, { unit: 'tokens', amount: 10 })
    await updateBudget(ports, caller, { id: budget.id, change: { amount: 20 } })
    await deleteBudget(ports, caller, { id: budget.id })
    await setLane(ports, caller, { name: 'main', concurrency: 7 })
    await getOrCreateLane(ports, caller, { name: 'gpu', concurrency: 1 })
    await getOrCreateLane(ports, caller, { name: 'gpu', concurrency: 9 })
    await updateSession(ports, { ...caller, key: 'group' }, { cap: 3 })
    const found = [...(await newest(9))].reverse()
    expect(found.map(({ action, before, after }) => [action, before, after])).toEqual([
      ['agent.create', null, expect.objectContaining({ id: 'poet' })],
      ['agent.update', { max_concurrent: null, version: 1 }, { max_concurrent: 2, version: 2 }],
      ['agent.delete', expect.objectContaining({ id: 'poet', max_concurrent: 2 }), null],
      ['budget.create', null, expect.objectContaining({ unit: 'tokens', amount: 10 })],
      ['budget.update', { amount: 10 }, { amount: 20 }],
      ['budget.delete', expect.objectContaining({ amount: 20 }), null],
      ['lane.update', { concurrency: 30 }, { concurrency: 7 }],
      ['lane.create', null, { concurrency: 1 }],
      ['session.update', { cap: 10 }, { cap: 3 }],
    ])
  })

  it('is what people do to runs and sessions, and not what they send', async () => {
    const { ports, caller } = world
    const [before] = await newest()
    const task = await submitTask(
      ports,
      { caller: { orgId: ORG, principal: null }, live },
      { agentId: 'writer', action: 'x' },
    )
    const sent = await message('hello')
    expect((await newest())[0]?.no).toBe(before?.no)
    await cancelRunById(ports, caller, task.taskId)
    await expect(cancelRunById(ports, caller, task.taskId)).rejects.toMatchObject({ code: 'ALREADY_ENDED' })
    const retried = await retryRun(ports, caller, { id: task.taskId, force: false })
    await message(' /STOPALL ')
    await world.take(stopSessionCommand({ orgId: ORG, principal: null }, sessionKey('agent:writer:s'), { how: 'stop' }))
    await world.take(resetSessionCommand(ORG, sessionKey('agent:writer:s')))
    const found = [...(await newest(5))].reverse()
    expect(found.map(({ actor, action, object, after }) => [actor, action, object.id, after])).toEqual([
      ['key_1', 'run.cancel', task.taskId, { status: 'cancelled' }],
      ['key_1', 'run.retry', task.taskId, { run_id: retried }],
      ['key_1', 'session.stopall', 'agent:writer:s', { stopped: 0, drained: 1, sender: 'ann' }],
      ['library', 'session.stop', 'agent:writer:s', { stopped: 0, drained: 0 }],
      ['signal', 'session.reset', 'agent:writer:s', { stopped: 0, drained: 0 }],
    ])
    expect('run_id' in sent).toBe(true)
  })

  it('is not what was refused', async () => {
    const { ports, caller } = world
    const [before] = await newest()
    await expect(updateAgent(ports, caller, { id: 'nobody', change: {} })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(createSchedule(ports, caller, { cron: 'x' })).rejects.toMatchObject({ code: 'VALIDATION' })
    expect((await newest())[0]?.no).toBe(before?.no)
  })

  it('has no secrets in it', async () => {
    const executor = {
      kind: 'in-process',
      url: 'https://ann:hunter2@example.org/x',
      headers: { Authorization: 'Bearer abc', 'X-Api-Key': 'def', Accept: 'text/plain', 'X-Auth': 'ghi' },
    } as const
    await createAgent(world.ports, world.caller, { id: 'web', name: 'Web', executor })
    expect((await newest())[0]?.after).toMatchObject({
      executor: {
        ...{ kind: 'in-process', url: 'https://***@example.org/x' },
        headers: { Authorization: '***', 'X-Api-Key': '***', Accept: 'text/plain', 'X-Auth': '***' },
      },
    })
    // Which secret is meant is no secret.
    expect(maskSecrets({ passwords: ['a', { b: 'c' }], max_tokens: 5, token: '{{secret:NAME}}' })).toEqual({
      passwords: ['***', { b: 'c' }],
      max_tokens: 5,
      token: '{{secret:NAME}}',
    })
  })

  it('is found by who, what, on what and when, in pages', async () => {
    const { ports, caller } = world
    const all = (await listAudit(ports, caller, { limit: 200 })).items
    const find = async (filter: Parameters<typeof listAudit>[2]) => (await listAudit(ports, caller, filter)).items
    expect(await find({ actor: 'signal' })).toEqual(all.filter(({ actor }) => actor === 'signal'))
    expect(await find({ action: 'lane.update' })).toHaveLength(1)
    expect(await find({ object_kind: 'agent', object_id: 'poet' })).toHaveLength(3)
    world.pass(1_000)
    const from = formatInstant(world.now)
    await setLane(ports, caller, { name: 'cron', concurrency: 3 })
    expect(await find({ from })).toHaveLength(1)
    expect(await find({ to: from, limit: 200 })).toEqual(all)
    const first = await listAudit(ports, caller, { limit: 3 })
    expect(first.next_cursor).not.toBeNull()
    const second = await find({ limit: 3, cursor: first.next_cursor ?? '' })
    expect([...first.items, ...second].map(({ no }) => no)).toEqual([0, 1, 2, 3, 4, 5].map((n) => all.length + 1 - n))
    for (const bad of [{ cursor: 'x' }, { limit: 0 }, { from: 'soon' }, { actor: '\u0000' }])
      await expect(find(bad), JSON.stringify(bad)).rejects.toMatchObject({ code: 'VALIDATION' })
  })

  it('is the org’s alone', async () => {
    await setLane(world.ports, world.stranger, { name: 'team', concurrency: 3 })
    const theirs = (await listAudit(world.ports, world.stranger)).items
    expect(theirs).toMatchObject([{ no: 1, actor: 'key_2', org_id: OTHER_ORG }])
    expect((await newest(200)).some(({ actor }) => actor === 'key_2')).toBe(false)
  })
})

describe('the chain', () => {
  const verify = (anchor: string | null = null, orgId: OrgId = ORG) => verifyAudit(world.ports, orgId, anchor)

  /** As somebody would who owns the server. */
  const tamper = async (statement: string): Promise<void> => {
    for (const table of ['audit', 'audit_head']) await world.rows(`alter table ${table} disable trigger user`)
    await world.db.query(statement)
    for (const table of ['audit', 'audit_head']) await world.rows(`alter table ${table} enable trigger user`)
  }

  /** Changes the chain, looks, and puts everything back. */
  const tampered = async (statement: string, anchor: string | null = null) => {
    await world.db.query('create table kept as select * from audit; create table kept_head as select * from audit_head')
    await tamper(statement)
    const verdict = await verify(anchor)
    await tamper(`delete from audit; insert into audit select * from kept; drop table kept;
      delete from audit_head; insert into audit_head select * from kept_head; drop table kept_head`)
    return verdict
  }

  it('is whole, and each hash can be computed by anybody', async () => {
    const all = [...(await newest(200))].reverse()
    expect(await verify()).toEqual({
      ...{ ok: true, org_id: ORG, records: all.length, faults: [] },
      head: { no: all.length, hash: all.at(-1)?.hash },
    })
    let previous: Buffer = Buffer.alloc(32)
    for (const { hash, ...record } of all) {
      previous = createHash('sha256').update(previous).update(canonicalJson(record)).digest()
      expect(previous.toString('hex')).toBe(hash)
    }
    expect(await verify(null, 'nobody' as OrgId)).toMatchObject({ ok: true, records: 0, head: null })
  })

  it('cannot be changed by statements', async () => {
    for (const statement of [
      `update audit set actor = 'x'`,
      'delete from audit where no = 1',
      'truncate audit',
      'delete from audit_head',
      'truncate audit_head',
    ])
      await expect(world.rows(statement), statement).rejects.toThrow('only ever added to')
  })

  it('shows a change, wherever it is', async () => {
    for (const change of [
      `actor = 'somebody'`,
      `after = '{"n": 1}'`,
      `at = at + interval '1 second'`,
      `object_id = 'x'`,
      `hash = decode(repeat('00', 32), 'hex')`,
    ]) {
      const verdict = await tampered(`update audit set ${change} where org_id = '${ORG}' and no = 3`)
      expect(verdict, change).toMatchObject({ ok: false })
      expect(verdict.faults[0], change).toMatchObject({ kind: 'changed', no: 3 })
    }
    expect(await verify()).toMatchObject({ ok: true })
  })

  it('shows a gap', async () => {
    const verdict = await tampered(`delete from audit where org_id = '${ORG}' and no in (4, 5)`)
    expect(verdict.faults).toEqual([{ kind: 'gap', no: 4, message: 'records 4 to 5 are missing' }])
  })

  it('shows what was cut off its end by the head', async () => {
    const { records } = await verify()
    const verdict = await tampered(`delete from audit where org_id = '${ORG}' and no > ${records - 2}`)
    expect(verdict.faults).toMatchObject([{ kind: 'truncated', no: records - 1 }])
    const empty = await tampered(`delete from audit where org_id = '${ORG}'`)
    expect(empty.faults).toMatchObject([{ kind: 'truncated', no: 1 }])
    const headless = await tampered(`delete from audit_head where org_id = '${ORG}'`)
    expect(headless.faults).toMatchObject([{ kind: 'truncated' }])
    const behind = await tampered(
      `update audit_head h set no = 2, hash = a.hash from audit a where a.org_id = h.org_id and a.no = 2`,
    )
    expect(behind.faults).toMatchObject([{ kind: 'changed', no: 3 }])
  })

  it('shows by an anchor what was cut off together with the head', async () => {
    const { records, head } = await verify()
    const cut = `delete from audit where org_id = '${ORG}' and no > ${records - 2};
      update audit_head h set no = a.no, hash = a.hash from audit a
       where h.org_id = '${ORG}' and a.org_id = h.org_id and a.no = ${records - 2}`
    expect(await tampered(cut)).toMatchObject({ ok: true })
    const verdict = await tampered(cut, head?.hash ?? '')
    expect(verdict.faults).toMatchObject([{ kind: 'anchor_missing', no: null }])
    expect(await verify(head?.hash.toUpperCase() ?? '')).toMatchObject({ ok: true })
    await expect(verify('abc')).rejects.toMatchObject({ flaws: [{ field: 'anchor' }] })
  })

  it('is walked in pages', async () => {
    await world.take({
      orgId: OTHER_ORG,
      apply: (desk) => {
        for (let no = 0; no < 2_500; no += 1)
          desk.changes.audits.push({
            ...{ actor: 'a', action: 'agent.update', object: { kind: 'agent', id: `é"\\${no}` }, before: null },
            after: { at: later(world.now, no), list: [no, null, { b: 1.5, a: -1e21 }], nothing: undefined },
          })
      },
    })
    expect(await verify(null, OTHER_ORG)).toMatchObject({ ok: true, records: 2_501, head: { no: 2_501 } })
  })

  it('stays one chain when many write at once', async () => {
    const before = (await verify()).records
    await Promise.all(
      Array.from({ length: 12 }, (_, index) => async () => {
        for (let attempt = 0; attempt < 50; attempt += 1)
          try {
            await setLane(world.ports, world.caller, { name: `lane${index}`, concurrency: index + 1 })
            return
          } catch (error) {
            // What a turn of a node would do: somebody else was faster, look again and repeat.
            if (!String(error).includes('history of')) throw error
          }
      }).map((write) => write()),
    )
    expect(await verify()).toMatchObject({ ok: true, records: before + 12 })
  })
})
