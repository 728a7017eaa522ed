import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { runCli } from '../../src/cli/program.ts'
import type { Signal } from '../../src/cli/terminal.ts'
import { instant } from '../../src/domain/instant.ts'
import { startBotApi } from '../integrations/channels/bot-api.ts'
import { run, type Ran } from '../cli/run.ts'
import { json, startPeer } from '../platform/outbound/peer.ts'
import { urlOf } from '../scenarios/url.ts'
import { createServeWorld } from '../serve/support.ts'
import { createTestDatabase } from '../support/database.ts'
import { openShell, type Shell } from '../support/shell.ts'
import { ROOT } from '../tooling/root.ts'
import { openBridge, type Asked } from './command-bridge.ts'

/** A directory beside a server, in which the commands of documents are what they are to their readers. */
export interface DocumentsWorld {
  /** A new shell for a document. */
  readonly open: () => Promise<Shell>
  readonly cwd: string
  /** What is typed when a command asks for something it does not show. */
  typed: string
  /** A text of a document with the addresses, databases and ids that are here. */
  readonly here: (text: string) => string
  /** Takes away what a document has made. */
  readonly clear: () => Promise<void>
  readonly end: () => Promise<void>
}

const now = () => instant(Date.now())

/** `jq -r .items[0].id`, which not every machine has. */
function jq({ args, input }: Asked): Ran {
  let found = JSON.parse(input) as unknown
  const steps = (args.at(-1) ?? '').split(/[.[\]]+/).filter((step) => step !== '')
  for (const step of steps) found = (found as Readonly<Record<string, unknown>>)[step]
  return { code: 0, stdout: `${String(found)}\n`, stderr: '' }
}

/** A server in this process, which answers its shell as soon as it listens. */
function serveHere(asked: Asked, stops: (() => Promise<unknown>)[]): Promise<Ran> {
  const stdout = new PassThrough()
  const stderr = new PassThrough()
  let hear: (signal: Signal) => void = () => undefined
  let said = ''
  let complained = ''
  stderr.on('data', (chunk: Buffer) => (complained += chunk.toString('utf8')))
  // The ports of documents may be somebody's.
  const args = asked.args.filter((word, index) => word !== '--port' && asked.args[index - 1] !== '--port')
  const ended = runCli([...args, '--port', '0'], {
    ...{ stdin: Readable.from([]), stdout, stderr, now, variables: asked.variables, cwd: asked.cwd },
    signals: { listen: (listener) => (hear = listener) },
  })
  stops.push(() => {
    hear('SIGTERM')
    hear('SIGINT')
    return ended
  })
  return new Promise((resolve) => {
    stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString('utf8')
      if (said.includes('listens on')) resolve({ code: 0, stdout: said, stderr: '' })
    })
    void ended.then((code) => resolve({ code, stdout: said, stderr: complained }))
  })
}

/** Ids that were printed, newest last, by their kind; and those that stand for them in documents. */
function createIds(): {
  readonly note: (text: string, made: boolean) => void
  readonly fill: (text: string) => string
} {
  const seen = new Map<string, string[]>()
  const named = new Map<string, string>()
  const newest = (kind: string): string | undefined => seen.get(kind)?.at(-1)
  return {
    note: (text, made) => {
      const fresh = new Set(seen.keys())
      for (const [id, kind = ''] of text.matchAll(/\b([a-z]{3})_[0-9a-z]{26}\b/g))
        // Whoever has made something means that, whatever a list shows beside it.
        if (made || !fresh.has(kind)) seen.set(kind, [...(seen.get(kind) ?? []).filter((one) => one !== id), id])
    },
    fill: (text) =>
      text.replaceAll(/\b([a-z]{3})_(?:01)?(?:…|[0-9a-z]{24}\b)/g, (shown, kind: string) => {
        if (shown.endsWith('…')) return newest(kind) ?? shown
        const taken = new Set(named.values())
        const id = named.get(shown) ?? seen.get(kind)?.findLast((one) => !taken.has(one)) ?? shown
        named.set(shown, id)
        return id
      }),
  }
}

export async function createDocumentsWorld(): Promise<DocumentsWorld> {
  const cwd = mkdtempSync(path.join(os.tmpdir(), 'escapement-documents-'))
  mkdirSync(path.join(cwd, 'schedules'))
  cpSync(path.join(ROOT, 'deploy'), path.join(cwd, 'deploy'), { recursive: true })
  cpSync(path.join(ROOT, 'examples/schedules.yaml'), path.join(cwd, 'schedules/schedules.yaml'))
  // Takes what is a test, and nothing else: deliveries wait to be looked at.
  const peer = await startPeer(({ body }, response) => json(response, body.includes('.test"') ? 200 : 500, {}))
  const bot = await startBotApi()
  const world = await createServeWorld()
  // For what begins with a database of its own.
  const spare = await createTestDatabase('empty')
  const settings = {
    ESCAPEMENT_OUTBOUND_ALLOW_LOOPBACK: 'true',
    ESCAPEMENT_OUTBOUND_ALLOW_HOSTS: `127.0.0.1:${peer.port}`,
    ESCAPEMENT_CHANNELS_TELEGRAM_API: bot.url,
  }
  const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { readonly version: string }
  const url = await world.serve({ variables: settings, version }).url
  const key = readFileSync(path.join(world.data, 'owner.key'), 'utf8').trim()
  symlinkSync(world.data, path.join(cwd, '.escapement'))
  const stops: (() => Promise<unknown>)[] = []
  const ids = createIds()
  const state = { typed: '' }

  const carryOut = async (asked: Asked): Promise<Ran> => {
    if (asked.program === 'jq') return jq(asked)
    // `npm start -- …` is the command line of the checkout.
    const args = asked.program === 'npm' ? asked.args.slice(asked.args.indexOf('--') + 1) : asked.args
    if (args[0] === 'serve') return serveHere({ ...asked, args }, stops)
    const input = asked.input === '' ? state.typed : asked.input
    const ran = await run(args, input, { cwd: asked.cwd, now, variables: asked.variables })
    ids.note(ran.stdout, args[1] === 'create')
    return ran
  }
  const bridge = await openBridge(path.join(cwd, 'bridge'), ['escapement', 'npm', 'jq'], carryOut)
  const env = { PATH: process.env['PATH'] ?? '', HOME: cwd, USER: 'me', ESCAPEMENT_DATABASE_URL: world.databaseUrl }
  // Requests name them; commands find the server by themselves.
  const known = `KEY=${key} ESCAPEMENT_KEY=${key} ESCAPEMENT_URL=${url}`
  const open = async (): Promise<Shell> => {
    const shell = await openShell(cwd, env)
    await shell.type(`${bridge.functions}\n${known}\ncurl() { command curl -sS --fail-with-body "$@"; }`)
    return shell
  }

  const here = (text: string): string =>
    ids
      .fill(text)
      .replaceAll('http://127.0.0.1:7420', url)
      .replaceAll('https://hooks.example.com', peer.url)
      .replaceAll(/postgres:\/\/(?:…|\S+)/g, `'${urlOf(spare.target)}'`)
  return {
    ...{ open, cwd, here },
    get typed() {
      return state.typed
    },
    set typed(text) {
      state.typed = text
    },
    clear: async () => {
      for (const stop of stops.splice(0)) await stop()
      await removeAll((args) => run(args, '', { cwd, now, variables: {} }))
    },
    end: async () => {
      await bridge.close()
      await world.end()
      await spare.drop()
      await bot.close()
      await peer.close()
      rmSync(cwd, { recursive: true, force: true })
    },
  }
}

interface Listed {
  readonly items: readonly { readonly id?: string; readonly name?: string }[]
}

/** Deletes what documents make, in the order in which nothing holds on to anything. */
async function removeAll(type: (args: readonly string[]) => Promise<Ran>): Promise<void> {
  for (const kind of ['channels', 'schedules', 'targets', 'budgets', 'agents']) {
    const { stdout } = await type([kind, 'list', '--json'])
    for (const { id } of (JSON.parse(stdout) as Listed).items)
      if (id !== undefined && id !== 'echo') await type([kind, 'delete', id])
  }
}
