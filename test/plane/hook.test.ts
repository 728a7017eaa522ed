import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Webhook } from 'standardwebhooks'
import { describe, expect } from 'vitest'
import { instant } from '../../src/domain/instant.ts'
import { run, type Ran } from '../cli/run.ts'
import { scenario, type RawAnswer, type Remote } from '../http-scenarios/world.ts'
import { ended } from '../scenarios/support.ts'

const guide = readFileSync(new URL('../../docs/guides/inbound-hook.md', import.meta.url), 'utf8')
const [, code = ''] = /```js\n([\s\S]*?)```/.exec(guide) ?? []
type CallHook = (url: string, secret: string, body: unknown) => Promise<string>

const SECRET = `whsec_${randomBytes(32).toString('base64')}`

/** Calls a hook as any sender of Standard Webhooks does. */
function call(
  node: Remote,
  id: string,
  { body, as = 'msg_1', at = new Date(), secret = SECRET }: { body: unknown; as?: string; at?: Date; secret?: string },
): Promise<RawAnswer> {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const signature = new Webhook(secret).sign(as, at, text)
  const timestamp = String(Math.floor(at.getTime() / 1_000))
  const headers = { 'webhook-id': as, 'webhook-timestamp': timestamp, 'webhook-signature': signature }
  return node.raw('POST', `/api/v1/hooks/${id}`, { key: '', text, headers })
}

const worker = ({ payload }: { readonly payload: unknown }): string => `Heard: ${(payload as { text: string }).text}`

/** Types a command where the server was started. */
const type = (data: string, args: readonly string[], stdin = ''): Promise<Ran> =>
  run(args, stdin, { cwd: '/', now: () => instant(Date.now()), variables: { ESCAPEMENT_DATA: data } })

/** Makes a hook as the guide says, and calls it with the guide's own program. */
async function fromTheCommandLine(node: Remote, data: string): Promise<void> {
  const flags = ['--name', 'cli', '--kind', 'hook', '--agent', 'worker', '--session', 'b-{{body.n}}', '--json']
  const made = await type(data, ['channels', 'create', ...flags], `${SECRET}\n`)
  expect([made.code, made.stderr]).toEqual([0, ''])
  const { id, hook_path: path } = JSON.parse(made.stdout) as { readonly id: string; readonly hook_path: string }
  const { callHook } = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as {
    readonly callHook: CallHook
  }
  const ran = await ended(node, await callHook(`${node.url}${path}`, SECRET, { n: 7, text: 'from a program' }))
  expect(ran).toMatchObject({ output: 'Heard: from a program', session_id: 'agent:worker:cli:hook:b-7' })
  await expect(callHook(`${node.url}${path}`, SECRET, { text: 'x' })).rejects.toThrow('400')
  const changed = await type(data, ['channels', 'update', id, '--lane', 'cron', '--unset', 'session'])
  expect([changed.code, changed.stdout]).toEqual([0, expect.stringMatching(/session +main[\s\S]+lane +cron/)])
  expect(await type(data, ['channels', 'test', id])).toMatchObject({ code: 0, stdout: `${id}: the token works.\n` })
  expect((await type(data, ['channels', 'disable', id])).stdout).toBe(`${id} is disabled.\n`)
  expect((await type(data, ['channels', 'list'])).stdout).toMatch(new RegExp(`${id} +cli +hook +paused`))
  expect((await type(data, ['channels', 'update', id, '--mode', 'polling'])).stderr).toContain('--mode')
  expect((await type(data, ['channels', 'delete', id])).stdout).toBe(`Deleted ${id}.\n`)
  expect((await type(data, ['channels', 'get', id])).code).toBe(1)
}

/** What a channel cannot be is refused with every flaw and leaves nothing behind. */
async function refusesNonsense(node: Remote): Promise<void> {
  const base = { name: 'ci', kind: 'hook', agent_id: 'worker', signing_secret: SECRET }
  const wrong: readonly (readonly [object, readonly string[]])[] = [
    [{ ...base, kind: 'irc' }, ['/kind']],
    [{ ...base, name: 'No Name' }, ['/name']],
    [{ ...base, name: 'last' }, ['/name']],
    [{ ...base, agent_id: 'nobody' }, ['/agent_id']],
    [{ ...base, signing_secret: 'short' }, ['/signing_secret']],
    [{ ...base, token: 'x' }, ['/token']],
    [{ ...base, allowed_users: ['1'] }, ['/allowed_users']],
    [{ ...base, session: '{{payload.x}}' }, ['/session']],
    [{ name: 'tg', kind: 'telegram', agent_id: 'worker', token: 'nonsense' }, ['/token']],
    [{ name: 'tg', kind: 'telegram' }, ['/agent_id', '/token']],
    [
      { name: 'tg', kind: 'telegram', agent_id: 'worker', token: '1:a', mode: 'push', allowed_chats: [null] },
      ['/mode', '/allowed_chats/0'],
    ],
  ]
  for (const [body, pointers] of wrong) {
    const refused = await node.raw('POST', '/api/v1/channels', { body })
    const found = (refused.body['errors'] as readonly { readonly pointer: string }[]).map(({ pointer }) => pointer)
    expect([body, refused.status, found.toSorted()]).toEqual([body, 400, pointers.toSorted()])
    expect(JSON.stringify(refused.body)).not.toContain('nonsense')
  }
  expect((await node.raw('GET', '/api/v1/channels')).body['items']).toEqual([])
  expect(await node.raw('POST', '/api/v1/channels', { body: base })).toMatchObject({ status: 201 })
  expect(await node.raw('POST', '/api/v1/channels', { body: base })).toMatchObject({ status: 409 })
}

describe('a signed hook', () => {
  scenario('makes a run of what it is told, once, and says precisely what is wrong', async (world) => {
    const node = await world.start({ agents: { worker } })
    const made = await node.raw('POST', '/api/v1/channels', {
      body: {
        ...{ name: 'ci', kind: 'hook', agent_id: 'worker', signing_secret: SECRET, lane: 'cron' },
        ...{ session: 'build-{{body.branch}}', text: 'Build {{body.number}} of {{body.branch}}: {{body.result}}' },
      },
    })
    expect(made).toMatchObject({ status: 201, body: { session: 'build-{{body.branch}}', allowed_users: null } })
    const id = String(made.body['id'])
    const body = { branch: 'main', number: 7, result: { ok: false } }
    const accepted = await call(node, id, { body })
    expect(accepted).toMatchObject({
      status: 202,
      body: { outcome: 'accepted', run_id: expect.stringMatching(/^run_/) as string },
    })
    const run = await ended(node, String(accepted.body['run_id']))
    expect(run).toMatchObject({
      ...{ status: 'success', trigger: 'webhook', lane: 'cron', session_id: 'agent:worker:ci:hook:build-main' },
      output: 'Heard: Build 7 of main: {"ok":false}',
    })
    // The same message again is the same message, whatever it says then; so is one that names itself.
    const repeated = { status: 200, body: { ...accepted.body, duplicate: true } }
    expect(await call(node, id, { body })).toMatchObject(repeated)
    expect(await call(node, id, { body: { ...body, number: 8 } })).toMatchObject(repeated)
    const named = { ...body, branch: 'side', message_id: 'm-1' }
    const other = await call(node, id, { body: named, as: 'msg_n1' })
    expect(await call(node, id, { body: named, as: 'msg_n2' })).toMatchObject({
      ...{ status: 200, body: { run_id: other.body['run_id'], duplicate: true } },
    })
    expect((await node.runs.list({ session: 'agent:worker:ci:hook:build-main' })).items).toHaveLength(1)

    const fresh = `whsec_${randomBytes(32).toString('base64')}`
    // The limit is 300 s; the half minute beyond it is for busy machines.
    const old = new Date(Date.now() - 330_000)
    for (const given of [{ secret: fresh }, { at: old }, { at: new Date(Date.now() + 330_000) }])
      expect(await call(node, id, { body, as: 'msg_2', ...given })).toMatchObject({
        status: 401,
        body: { code: 'BAD_SIGNATURE' },
      })
    const unsigned = await node.raw('POST', `/api/v1/hooks/${id}`, { key: '', body })
    expect([unsigned.status, unsigned.body['detail']]).toEqual([401, expect.stringContaining('webhook-id')])
    const missing = await call(node, id, { body: { number: 1 }, as: 'msg_3' })
    expect(missing).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: '/branch' }, { pointer: '/result' }, { pointer: '/branch' }] },
    })
    expect(await call(node, id, { body: 'no json', as: 'msg_4' })).toMatchObject({
      status: 400,
      body: { code: 'MALFORMED' },
    })
    expect(await call(node, id, { body: { text: 'x'.repeat(1_100_000) }, as: 'msg_5' })).toMatchObject({ status: 413 })
    expect(await call(node, 'chn_nobody', { body })).toMatchObject({ status: 404 })
    expect((await node.client.runs.list({ trigger: 'webhook' })).items).toHaveLength(2)

    // Another secret takes the place of the one before at once; nothing of either is ever shown.
    const changed = await node.raw('PATCH', `/api/v1/channels/${id}`, {
      body: { signing_secret: fresh, text: null, session: null },
    })
    expect(changed).toMatchObject({ status: 200, body: { text: null, session: 'main' } })
    expect(await call(node, id, { body, as: 'msg_6' })).toMatchObject({ status: 401 })
    expect(await call(node, id, { body: { text: 'plain' }, as: 'msg_6', secret: fresh })).toMatchObject({ status: 202 })
    const audit = await node.raw('GET', '/api/v1/audit?limit=200')
    for (const said of [audit, changed, made]) {
      expect(JSON.stringify(said.body)).not.toContain(SECRET)
      expect(JSON.stringify(said.body)).not.toContain(fresh)
    }
    expect(JSON.stringify(audit.body)).toContain('replaced_signing_secret')
    expect(await node.raw('DELETE', `/api/v1/channels/${id}`)).toMatchObject({ status: 204 })
    expect(await call(node, id, { body, as: 'msg_7', secret: fresh })).toMatchObject({ status: 404 })
    await refusesNonsense(node)
    await fromTheCommandLine(node, world.data)
  })
})
