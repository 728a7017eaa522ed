import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { SMTPServer } from 'smtp-server'
import { describe, expect } from 'vitest'
import { createClient, type Client } from '../../src/client/client.ts'
import { startModelServer, type Speaking } from '../executors/model-server.ts'
import { scenario, type Remote, type World } from '../http-scenarios/world.ts'
import { json, startPeer, type Answering, type Peer } from '../platform/outbound/peer.ts'
import { chat, ended, eventually, send } from '../scenarios/support.ts'
import { answersOf, canary, dumpOf, findIn, SHOWS_SIGNING_SECRET, type Canaries } from './canaries.ts'

// Values that nobody may see are planted wherever one can be given, everything is done with them that sends them out and
// brings them back, and then everything that can be read is searched for them.

const PLANTED = {
  secret: canary('secret'),
  replaced: canary('replaced'),
  chatKey: canary('chat'),
  tabToken: canary('tab'),
  smtpPassword: canary('smtp'),
  botToken: `4711:${canary('bot')}`,
  slackToken: `xoxb-${canary('slack')}`,
  slackSecret: canary('slack'),
  slackAddress: canary('address'),
  hookSecret: `whsec_${Buffer.from(canary('hook')).toString('base64')}`,
  keyOfSecrets: Buffer.from(canary('key').slice(0, 32)).toString('hex'),
}

const STATUSES: Readonly<Record<string, number>> = { fail: 500, refuse: 400 }

/** An agent that gives back everything it was sent: as a result, as an error, as a failure, later, or as a redirect. */
const mirror: Answering = ({ url, headers, body }, response) => {
  const said = { url, headers, body, encoded: Buffer.from(String(headers['x-key'])).toString('base64') }
  const dispatch = body.startsWith('{') ? (JSON.parse(body) as { callback_url?: string; callback_token?: string }) : {}
  const way = new URL(url, 'http://x').pathname.split('/')[1] ?? ''
  if (way === 'later') {
    json(response, 202, {})
    return report(dispatch.callback_url ?? '', { status: 'success', output: said, summary: JSON.stringify(said) })
  }
  if (way === 'away')
    return response
      .writeHead(307, { location: `http://localhost:${String(headers.host).split(':')[1] ?? ''}/elsewhere` })
      .end()
  if (way === 'broken') {
    response.writeHead(200, { 'content-type': 'application/json' })
    return response.end(`{"half": "${String(headers['x-key'])}`)
  }
  const failed = { status: 'failed', error_message: JSON.stringify(said), output: said, retryable: false }
  json(response, STATUSES[way] ?? 200, way === 'result' ? failed : said)
  return undefined
}

const report = (url: string, result: unknown): Promise<unknown> =>
  eventually(async () => {
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(result) })
    expect(answer.status).toBe(200)
  })

const WAYS = ['mirror', 'fail', 'refuse', 'result', 'later', 'away', 'broken']

/** A mail server that lets nobody in, and says with which words they came. */
async function startRefusingMail(): Promise<{ readonly port: number; readonly close: () => Promise<void> }> {
  const server = new SMTPServer({
    ...{ disabledCommands: ['STARTTLS'], allowInsecureAuth: true, logger: false },
    onAuth: ({ username, password }, _, done) => {
      const plain = Buffer.from(`\u0000${String(username)}\u0000${String(password)}`).toString('base64')
      done(new Error(`${String(password)} is wrong, and so is ${plain}`))
    },
  })
  server.on('error', () => undefined)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.server.address() as AddressInfo
  return { port, close: () => new Promise((resolve) => server.close(resolve)) }
}

interface Scene {
  readonly world: World
  readonly node: Remote
  readonly peer: Peer
  /** Events, as they came. */
  readonly heard: string[]
  /** What was answered to everything that was asked for, but for the two answers that show a value once. */
  readonly answered: string[]
  readonly client: Client
}

const SHOWS_ONCE = /^POST \S*\/keys$|\/signing-secret$/

/** A client that keeps every answer. */
function recordingClient({ url, key }: Remote, answered: string[]): Client {
  return createClient({
    ...{ url, key, retries: 0 },
    fetch: async (input, init) => {
      const answer = await fetch(input, init)
      const what = `${init?.method ?? 'GET'} ${new URL(input instanceof Request ? input.url : input).pathname}`
      if (!SHOWS_ONCE.test(what)) answered.push(`${what} ${await answer.clone().text()}`)
      return answer
    },
  })
}

/** Makes agents that send the secret in every way, and has each of them run. */
async function throughAgents({ node, peer, client }: Scene): Promise<void> {
  const hosts = [`127.0.0.1:${peer.port}`]
  await client.secrets.create({ name: 'KEY', value: PLANTED.replaced, hosts })
  await client.secrets.update('KEY', { value: PLANTED.secret })
  const headers = { 'x-key': '{{secret:KEY}}', authorization: 'Bearer {{secret:KEY}}' }
  await Promise.all(
    WAYS.map(async (way) => {
      // What comes later is reported to the address in the dispatch, so that one is sent as it is.
      const body = way === 'later' ? {} : { body: { deep: [{ key: '{{secret:KEY}}' }], from: '{{payload.text}}' } }
      const executor = { kind: 'http', url: `${peer.url}/${way}`, headers, ...body } as const
      await client.agents.create({ id: way, name: way, executor, retry_policy: { max_retries: 0 } })
      const { run_id: id } = await send(node, chat('ann', way), 'Say {{secret:KEY}}')
      await ended(node, id)
    }),
  )
  // They were really sent, and not because a payload named them.
  const echoed = peer.heard.find(({ url }) => url === '/mirror')
  expect(echoed?.headers['x-key']).toBe(PLANTED.secret)
  expect(JSON.parse(echoed?.body ?? '')).toEqual({ deep: [{ key: PLANTED.secret }], from: 'Say {{secret:KEY}}' })
  expect(peer.heard.map(({ url }) => url)).not.toContain('/elsewhere')
}

/** A model that says its key back, cut in two. */
async function throughChat({ node, heard, client }: Scene): Promise<void> {
  const models = await startModelServer((talk: Speaking) => {
    const key = String(talk.heard.headers.authorization).replace('Bearer ', '')
    talk.say('The word is ', key.slice(0, 20), key.slice(20), ', and ', 'that is all')
    talk.finish({ usage: { prompt_tokens: 1, completion_tokens: 1 } })
  })
  try {
    await client.secrets.create({ name: 'MODEL', value: PLANTED.chatKey, hosts: [`127.0.0.1:${models.port}`] })
    const executor = { kind: 'chat', base_url: models.baseUrl, model: 'tiny', api_key: '{{secret:MODEL}}' } as const
    await node.agents.create({ id: 'model', name: 'Model', executor })
    const { run_id: id } = await send(node, chat('ann', 'model'), 'Hello')
    expect((await ended(node, id)).output).toBe('The word is ***, and that is all')
    await eventually(() => expect(heard.join('\n')).toContain('that is all'))
  } finally {
    await models.close()
  }
}

/** Everything else that is given a value, and what follows from it. */
async function throughTheRest({ node, peer, client, answered }: Scene): Promise<Canaries> {
  const raw = async (...asked: Parameters<Remote['raw']>): Promise<void> => {
    answered.push(JSON.stringify((await node.raw(...asked)).body))
  }
  const { secret: signing } = await client.targets.signingSecret()
  const target = await client.targets.create({ name: 'ops', kind: 'webhook', url: `${peer.url}/fail` })
  await client.targets.test(target.id)
  const mail = await client.targets.create({ name: 'mail', kind: 'email', settings: { to: ['ops@example.com'] } })
  expect((await client.targets.test(mail.id)).message).toContain('***')
  const slack = await client.targets.create({
    name: 'slack',
    kind: 'slack',
    url: `${peer.url}/fail/T0/${PLANTED.slackAddress}`,
  })
  await client.targets.update(slack.id, { name: 'team', url: slack.url ?? '' })
  expect((await client.targets.test(slack.id)).message).toContain('***')
  expect(peer.heard.at(-1)?.url).toContain(PLANTED.slackAddress)
  const schedule = await node.schedules.create({
    ...{ name: 'Look', agent_id: 'echo', every_seconds: 3_600, delivery: { target_id: target.id } },
  })
  const { run_id: id = '' } = await node.schedules.runNow(schedule.id)
  await ended(node, id)
  await client.tasks.submit({ agentId: 'tab', action: 'click', tabId: 'tab_1' })
  const { key: made } = await client.keys.create({ name: 'program', scopes: ['runs:read'] })
  const key = String(made)
  await raw('GET', '/api/v1/runs', { key })
  await client.channels.create({
    ...{ name: 'bot', kind: 'telegram', agent_id: 'echo', token: PLANTED.botToken, allowed_users: ['1'] },
  })
  await client.channels.create({
    ...{
      name: 'team',
      kind: 'slack',
      agent_id: 'echo',
      token: PLANTED.slackToken,
      signing_secret: PLANTED.slackSecret,
    },
  })
  const hook = await client.channels.create({
    ...{ name: 'hook', kind: 'hook', agent_id: 'echo', signing_secret: PLANTED.hookSecret },
  })
  await raw('POST', hook.hook_path, { body: { text: 'unsigned' }, key: '' })
  for (const { id: channel } of (await client.channels.list({})).items) await client.channels.test(channel)
  await raw('POST', '/api/v1/secrets', { body: { name: 'x', valeu: PLANTED.secret, hosts: PLANTED.secret } })
  await raw('POST', '/api/v1/secrets', { text: `{"name": "x", "value": "${PLANTED.secret}", ` })
  await raw('PATCH', '/api/v1/config', { body: { smtp: { password: PLANTED.smtpPassword } } })
  await raw('PATCH', '/api/v1/config', { body: { smtp: { password: [PLANTED.smtpPassword] } } })
  await client.secrets.rotate({})
  await eventually(async () => {
    const [delivery] = (await client.deliveries.list({})).items
    expect(delivery?.tries.length).toBeGreaterThan(0)
  })
  return { signing, key }
}

/** Hears everything that happens until the test is over. */
async function listen(node: Remote, heard: string[]): Promise<() => void> {
  const over = new AbortController()
  await new Promise<void>((resolve) => {
    const stream = createClient(node).events({}, { signal: over.signal, onOpen: resolve })
    void (async () => {
      for await (const event of stream) heard.push(JSON.stringify(event))
    })()
  })
  return () => over.abort()
}

const configuration = (peer: Peer, mailPort: number): Parameters<World['start']>[0] => ({
  outbound: { allow_loopback: true, allow_hosts: [`127.0.0.1:${peer.port}`] },
  log: { level: 'debug' },
  smtp: { host: '127.0.0.1', port: mailPort, user: 'me', password: PLANTED.smtpPassword, from: 'me@example.com' },
  tasks: { executor: { instances: { '*': peer.url }, token: PLANTED.tabToken } },
  channels: { telegram_api: peer.url, slack_api: peer.url },
  variables: { ESCAPEMENT_SECRET_KEY: PLANTED.keyOfSecrets },
})

/** Where canaries were found, as `place: canary`. */
async function search(scene: Scene, canaries: Canaries, only: 'all' | 'database' = 'all'): Promise<readonly string[]> {
  const { world, node, heard, answered } = scene
  const found: string[] = []
  const look = (place: string, text: string, hidden = canaries): void => {
    for (const name of findIn(text, hidden)) found.push(`${place}: ${name}`)
  }
  for (const [table, text] of Object.entries(await dumpOf(world.database))) look(table, text)
  if (only === 'database') return found
  const ask = async (target: string): Promise<string> => {
    const answer = await fetch(`${node.url}${target}`, { headers: { authorization: `Bearer ${node.key}` } })
    const text = await answer.text()
    if (answer.status >= 400) throw new Error(`${target} answered ${answer.status}: ${text}`)
    return text
  }
  const { signing: _signing, ...others } = canaries
  for (const [place, text] of await answersOf(world.database, ask))
    look(place, text, place.startsWith(`${SHOWS_SIGNING_SECRET} `) ? others : canaries)
  look('events', heard.join('\n'))
  look('answers', answered.join('\n'))
  look('log', [node.served.stdout(), node.served.stderr(), JSON.stringify(node.served.log())].join('\n'))
  return found
}

describe('what nobody may see', () => {
  scenario('is in no table, no answer, no event and no line of the log', async (world) => {
    const peer = await startPeer(mirror)
    const mail = await startRefusingMail()
    try {
      const node = await world.start(configuration(peer, mail.port))
      const answered: string[] = []
      const scene: Scene = { world, node, peer, heard: [], answered, client: recordingClient(node, answered) }
      const over = await listen(node, scene.heard)
      await throughAgents(scene)
      await throughChat(scene)
      const made = await throughTheRest(scene)
      const canaries = {
        ...PLANTED,
        ...made,
        ownerKey: readFileSync(path.join(world.data, 'owner.key'), 'utf8').trim(),
      }
      expect(await search(scene, canaries)).toEqual([])

      // A search that finds nothing must be one that would: planted in the open, it is found everywhere.
      const { secret } = PLANTED
      await scene.client.agents.create({ id: 'open', name: secret, executor: { kind: 'echo' } })
      const { run_id: id } = await send(node, chat(secret, 'open'), secret)
      await ended(node, id)
      await eventually(() => expect(scene.heard.join('\n')).toContain(secret))
      const places = (await search(scene, canaries)).map((place) => place.split(' ')[0]?.replace(/:$/, ''))
      for (const place of ['escapement.agent', 'escapement.run', 'escapement.audit', 'escapement.turn'])
        expect(places).toContain(place)
      for (const place of ['agents.get', 'runs.get', 'sessions.get', 'audit.list', 'answers', 'events', 'log'])
        expect(places).toContain(place)
      over()
    } finally {
      await mail.close()
      await peer.close()
    }
  })

  scenario('is found in whatever form a table holds it', async (world) => {
    const planted = { secret: canary('planted') }
    const { outside } = world.database
    await outside('create table escapement.planted (a text, b jsonb, c bytea, d text[])')
    const scene = { world } as Scene
    for (const [column, value] of [
      ['a', `'before ${planted.secret} after'`],
      ['b', `'{"deep": [{"x": "${planted.secret}"}]}'`],
      ['c', `'${planted.secret}'::bytea`],
      ['d', `array['x', '${planted.secret}']`],
      ['a', `encode('user:${planted.secret}'::bytea, 'base64')`],
      ['a', `'${planted.secret.slice(0, 30)}'`],
    ] as const) {
      await outside(
        `insert into escapement.planted (${column}) values (replace(${value}::text, E'\\n', '')::${
          { a: 'text', b: 'jsonb', c: 'bytea', d: 'text[]' }[column]
        })`,
      )
      expect(await search(scene, planted, 'database')).toEqual(['escapement.planted: secret'])
      await outside('delete from escapement.planted')
    }
    expect(await search(scene, planted, 'database')).toEqual([])
  })
})
