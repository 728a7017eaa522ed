import { mkdtempSync, mkdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { createTransport } from 'nodemailer'
import Fastify from 'fastify'
import { afterAll, describe, expect, it } from 'vitest'
import { manyLines, oneLine } from '../../src/cli/output/text.ts'
import { renderTextMessage } from '../../src/domain/delivery/email-message.ts'
import { parseMailSettings } from '../../src/domain/delivery/target-kinds.ts'
import { addConsole } from '../../src/server/console/console.ts'
import { createServerLog } from '../../src/platform/log/server-log.ts'
import { createTransactionLog } from '../../src/platform/log/transaction-log.ts'
import { newKeyText, newSecret } from '../../src/features/access/key-text.ts'
import { writePrivateFile } from '../../src/platform/private-file.ts'

// Words of others where they could be taken for commands: in the log, on a terminal, in a mail, in the name of a file.
// Commands and their arguments are in test/executors/command.test.ts, what goes out in test/outbound.

const directory = mkdtempSync(path.join(os.tmpdir(), 'escapement-words-'))
afterAll(() => {
  rmSync(directory, { recursive: true, force: true })
})

/** What moves the cursor, colours, begins a line, turns it around or ends a text. */
const COMMANDS = [
  ...['\n', '\r\n', '\u0000', '\u0007', '\u0008', '\u001b[2J', '\u001b]0;title\u0007', '\u007f', '\u0085'],
  ...['\u009b31m', '\u009d0;t\u009c', '\u2028', '\u2029', '\u202e', '\u2066'],
]
const COMMAND = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u

const written = (pretty: boolean, write: (log: ReturnType<typeof createServerLog>) => void): string => {
  let text = ''
  write(createServerLog({ level: 'debug', pretty, to: (piece) => (text += piece) }))
  return text
}

describe('the log', () => {
  const said = (log: ReturnType<typeof createServerLog>): void => {
    for (const word of COMMANDS) {
      const hostile = `before${word}{"level":"error","msg":"forged"}`
      log.log({ level: 'warn', message: hostile, facts: { [hostile]: hostile, deep: { [hostile]: [hostile] } } })
    }
  }

  it('has one line for each thing that was said, whatever is in it', () => {
    const lines = written(false, said).trimEnd().split('\n')
    expect(lines).toHaveLength(COMMANDS.length)
    for (const line of lines) expect(JSON.parse(line)).toMatchObject({ level: 'warn' })
  })

  it('commands no terminal', () => {
    // eslint-disable-next-line no-control-regex -- the colours that are ours are taken away
    const plain = written(true, said).replaceAll(/\u001b\[\d+m/g, '')
    const lines = plain.trimEnd().split('\n')
    expect(lines).toHaveLength(COMMANDS.length)
    for (const line of lines) expect(COMMAND.exec(line)).toBeNull()
  })

  it('of turns is JSON whatever a session, an org or an agent is called', () => {
    const hostile = COMMANDS.join('"},{"')
    const text = written(false, (log) => {
      const turns = createTransactionLog(log, () => 'nod_1')
      const data = { status: 'queued', reason: 'accepted', attempt: 1, session: hostile }
      turns.hear(hostile, {
        nodeId: 'nod_1',
        events: [
          ['run.changed', 'run_1', data],
          ['agent.changed', hostile, { name: hostile }],
        ],
      })
      turns.flush()
    })
    const lines = text.trimEnd().split('\n')
    expect(lines.map((line) => (JSON.parse(line) as { org: string }).org)).toEqual([hostile, hostile])
  })
})

describe('a terminal', () => {
  it('is commanded by nothing that a command prints of others', () => {
    for (const word of COMMANDS.map((one) => `before${one}after`)) {
      expect(COMMAND.exec(oneLine(word))).toBeNull()
      expect(COMMAND.exec(manyLines(word).replaceAll('\n', ''))).toBeNull()
    }
  })
})

describe('a mail', () => {
  const sent = async (subject: string): Promise<string> => {
    const transport = createTransport({ streamTransport: true, buffer: true })
    const { message } = await transport.sendMail({ from: 'me@example.com', to: 'you@example.com', text: 'x', subject })
    return (message as Buffer).toString('latin1')
  }

  it('has the headers we write, whatever its subject is made of', async () => {
    for (const word of COMMANDS.filter((one) => one !== '\u0000')) {
      const name = `Nightly${word}Bcc: everybody@example.com`
      const data = { status: 'failed', schedule: { id: 'sch_1', name }, error_message: name, run_id: 'run_1' }
      const { subject } = renderTextMessage({ type: 'run.failed', timestamp: '2026-01-01T00:00:00Z', data })
      expect(COMMAND.exec(subject.replaceAll(/[\u202a-\u202e\u2066-\u2069]/g, ''))).toBeNull()
      const [head = ''] = (await sent(subject)).split('\r\n\r\n')
      expect(head).not.toMatch(/^bcc:/im)
    }
  })

  it('goes to addresses alone: nothing else can be set as one', () => {
    for (const address of [
      ...[
        'a@example.com\r\nBcc: b@example.com',
        'a@example.com, b@example.com',
        'a@example.com>\r\nRCPT TO:<b@example.com',
      ],
      ...[
        '',
        'no address',
        'a b@example.com',
        '<a@example.com>',
        'a@example.com\u0000',
        'a@exa\u001bmple.com',
        'a\u009b@example.com',
      ],
    ])
      expect([address, parseMailSettings('settings', { to: [address] }).ok]).toEqual([address, false])
    expect(parseMailSettings('settings', { to: ['a@example.com'], subject_prefix: 'x\r\ny' }).ok).toBe(false)
    expect(parseMailSettings('settings', { to: ['a@example.com'], subject_prefix: '[ops]' }).ok).toBe(true)
  })
})

describe('the files of the console', () => {
  it('are those that were there at the start, by their names alone', async () => {
    const ui = path.join(directory, 'ui')
    mkdirSync(path.join(ui, 'assets'), { recursive: true })
    writeFileSync(path.join(ui, 'index.html'), 'the document')
    writeFileSync(path.join(ui, 'assets', 'a.js'), 'the script')
    writeFileSync(path.join(directory, 'outside.js'), 'the outside')
    const app = Fastify()
    addConsole(app, ui)
    symlinkSync(path.join(directory, 'outside.js'), path.join(ui, 'assets', 'later.js'))
    const spellings = [
      ...[
        '/../outside.js',
        '/assets/../../outside.js',
        '/assets/..%2f..%2foutside.js',
        '/assets/%2e%2e/%2e%2e/outside.js',
      ],
      ...[
        '/assets/%252e%252e%252f%252e%252e%252foutside.js',
        '/assets/..\\..\\outside.js',
        '/assets/..%5c..%5coutside.js',
      ],
      ...[
        '/assets/%c0%ae%c0%ae/outside.js',
        '/assets/%e0%80%ae/outside.js',
        '/assets/a.js%00.html',
        '/assets/a.js%00',
        '//outside.js',
      ],
      ...['//assets/../../outside.js', '/assets//../../outside.js', '/assets/./../../outside.js', '/assets/later.js'],
      ...[
        '/ASSETS/A.JS',
        '/assets/a.js/',
        '/assets/a.js/../../../outside.js',
        '/%2fetc/passwd',
        '/etc/passwd',
        '/.env',
        '/assets',
      ],
    ]
    for (const url of spellings) {
      const { statusCode, body } = await app.inject({ method: 'GET', url })
      expect([url, statusCode >= 400, body.includes('the outside') || body.includes('root:')]).toEqual([
        url,
        true,
        false,
      ])
    }
    expect((await app.inject('/assets/a.js')).body).toBe('the script')
    await app.close()
  })
})

describe('a secret', () => {
  it('has 256 bits that follow from nothing', () => {
    const texts = Array.from({ length: 2_000 }, newSecret)
    expect(new Set(texts).size).toBe(texts.length)
    const bytes = texts.map((text) => Buffer.from(text, 'base64url'))
    for (const one of bytes) expect(one).toHaveLength(32)
    // Of 2,000 fair bits the share of ones is within 6.7 standard deviations of a half.
    for (let bit = 0; bit < 256; bit += 1) {
      const ones = bytes.filter((one) => (((one[bit >> 3] ?? 0) >> (bit & 7)) & 1) === 1).length
      expect(Math.abs(ones - 1_000)).toBeLessThan(150)
    }
    expect(newKeyText()).toMatch(/^esc_[\w-]{43}$/)
  })

  it('in a file is for its owner alone, also where it replaces one that was open', async () => {
    const file = path.join(directory, 'kept', 'owner.key')
    const umask = process.platform === 'win32' ? 0 : 0o077
    await writePrivateFile(file, 'first')
    writeFileSync(file, 'open', { mode: 0o644 })
    await writePrivateFile(file, 'second')
    expect(statSync(file).mode & umask).toBe(0)
  })
})
