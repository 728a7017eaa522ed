import { hookFlaw } from '../../../src/integrations/channels.ts'
import { slackFlaw } from '../../../src/integrations/slack/events.ts'
import { workerOperations } from '../../../src/features/workers/routes.ts'
import { Refusal } from '../../../src/api/refusals.ts'
import { readTraceparent } from '../../../src/domain/trace-context.ts'
import type { HttpSettings } from '../../../src/server/http/context.ts'
import { hasTag, readIfMatch } from '../../../src/server/http/entity-tag.ts'
import { readPosition } from '../../../src/server/events/frames.ts'
import { identify } from '../../../src/server/http/gate.ts'
import { createHostCheck } from '../../../src/server/http/hosts.ts'
import { readJsonBody } from '../../../src/server/http/json-body.ts'
import { problemOf } from '../../../src/server/http/problem.ts'
import { readersOf } from '../../../src/api/read-input.ts'
import { readKey } from '../../../src/operations/perform.ts'
import { readRequest } from '../../../src/server/rpc/message.ts'
import { retryAfterMs } from '../../../src/platform/outbound/request.ts'
import { parseCursor, parseIdCursor, readCursorParts, writeCursor } from '../../../src/platform/db/cursor.ts'
import { asFields, asText, classOf, must, unlessRefused, type Target } from './target.ts'

const SETTINGS = {
  publicUrl: 'https://plane.example.com',
  allowedHosts: ['a.example.com'],
  ratePerSecond: 0,
  tasksEnabled: true,
}
const hosts = createHostCheck(
  () => SETTINGS as unknown as HttpSettings,
  () => 7_420,
)

const host: Target = {
  name: 'Host and Origin',
  words: [
    'localhost',
    '127.0.0.1',
    '[::1]',
    ':7420',
    ':',
    '@',
    'http://',
    'https://',
    'a.example.com',
    '.',
    '%00',
    ', ',
  ],
  draw: (random) => ({
    host: random.one([
      'localhost:7420',
      '127.0.0.1:7420',
      '[::1]:7420',
      'a.example.com',
      'evil.example.com',
      'plane.example.com',
    ]),
    origin: random.one([null, 'http://localhost:7420', 'null', 'https://plane.example.com', 'http://evil.example.com']),
  }),
  attempt: (input) => {
    const { host: name, origin } = asFields(input)
    const [given, from] = [asText(name ?? ''), origin === null || origin === undefined ? undefined : asText(origin)]
    return unlessRefused(
      () => hosts.check(given, from),
      () => {
        const own = /^(?:(?:localhost|127\.0\.0\.1|\[::1\]):0*7420|plane\.example\.com|a\.example\.com(?::\d{1,5})?)$/i
        must(own.test(given), `${given.slice(0, 100)} is none of our hosts`)
        return from === undefined ? 'ours' : 'ours, from ourselves'
      },
    )
  },
}

/** Of all that the gate is given it asks nothing but who somebody is. */
const nobody = { authenticate: () => null, consoleSession: () => Promise.resolve(null) } as never

const authorization: Target = {
  name: 'Authorization',
  words: ['Bearer ', 'Basic ', 'bearer', ' ', 'escapement_session=', ';', '; ', '=', '"', '%', '%E0%A4%A', ',', '\t'],
  draw: (random) =>
    random.one(['Bearer esc_abc', 'escapement_session=abc; a=b', 'Basic YTpi', 'a=%E0%A4%A; escapement_session="x"']),
  attempt: (input) => {
    const text = asText(input)
    return unlessRefused(
      () => identify(nobody, { method: 'GET', headers: { authorization: text } }, () => undefined),
      () => 'let in',
    )
  },
}

const tags: Target = {
  name: 'If-Match and positions',
  words: ['"', 'W/', '*', ',', '1', '-', '999999999999999', ' '],
  draw: (random) => random.one(['"5"', 'W/"5"', '*', '"1", "2"', '12-3', '7', '"x"']),
  attempt: (input) => {
    const text = asText(input)
    const version = readIfMatch(text)
    must(version === undefined || Number.isSafeInteger(version), 'a version is a whole number')
    const position = readPosition(text)
    must(position === null || (Number.isSafeInteger(position.no) && position.index >= 0), 'a position is one')
    return `${version === undefined ? 'any' : version === -1 ? 'none of ours' : 'a version'}, ${String(hasTag(text, '"5"'))}, ${position === null ? 'no position' : 'a position'}`
  },
}

const cursor: Target = {
  name: 'cursor',
  words: ['W10', 'WzEsImEiXQ', '=', '-', '_', '+', '/', '%', 'W251bGxd'],
  draw: (random) =>
    random.one([
      writeCursor({ createdAt: 1_768_435_200_000 as never, key: random.one(['run_1', 'ü', '"', '']) }),
      Buffer.from(JSON.stringify([random.one([1e300, -1, 0.5, null, 'x', 1_768_435_200_000]), 'run_1'])).toString(
        'base64url',
      ),
      Buffer.from(JSON.stringify(['run_1'])).toString('base64url'),
    ]),
  attempt: (input) => {
    const [read, id] = [parseCursor('cursor', input), parseIdCursor('cursor', input)]
    readCursorParts(input)
    if (read.ok && read.value !== null) {
      const again = parseCursor('cursor', writeCursor(read.value))
      must(again.ok && again.value?.key === read.value.key, 'a cursor is read as it was written')
    }
    return `${classOf(read)}, ${id.ok ? 'an id' : 'no id'}`
  },
}

const body: Target = {
  name: 'JSON body',
  words: ['{', '}', '[', ']', '"', ':', ',', '"__proto__":', '1e999', '\\u0000', '\\ud83d', 'null', '-0', '{"a":'],
  draw: (random) =>
    random.one(['{"a":[1,{"b":"\\u00e9"}]}', '[]', '{"a":1,"a":2}', '"x"', '{"a":"\\ud83d\\ude00"}', '1e5', 'nul']),
  attempt: (input) =>
    unlessRefused(
      () => readJsonBody(Buffer.from(asText(input))),
      (value) => {
        const text = JSON.stringify(value) as string | undefined
        must(text === undefined || !/(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/.test(text), 'what is taken can be kept')
        return `taken as ${typeof value}`
      },
    ),
}

const rpc: Target = {
  name: 'JSON-RPC frame',
  words: ['jsonrpc', '2.0', 'id', 'method', 'params', 'cron.list'],
  draw: (random) => ({
    ...{ jsonrpc: '2.0', id: random.one([1, 'a', null, 1.5]), method: random.one(['cron.list', 'cron.create', 'x']) },
    params: random.one([{}, [], { schedule: { kind: 'cron', expr: '* * * * *' } }]),
  }),
  attempt: (input) => {
    const read = readRequest(input)
    if (!('error' in read)) return 'taken'
    must(read.id === null || typeof read.id === 'string' || typeof read.id === 'number', 'an id is one, or null')
    return `refused ${read.error.message}`
  },
}

const WORKER_BODIES = [
  readersOf(workerOperations['worker.claim']),
  readersOf(workerOperations['worker.events']),
  readersOf(workerOperations['worker.complete']),
]

const worker: Target = {
  name: 'worker frame',
  words: [
    'agents',
    'capacity',
    'worker_id',
    'wait_seconds',
    'events',
    'status',
    'success',
    'output',
    'usage',
    'retryable',
  ],
  draw: (random) =>
    random.one<unknown>([
      { name: 'w', agents: ['writer'], capacity: random.one([1, 0, 1e9]), wait_seconds: 1 },
      { events: [{ output: 'x' }, 'y', null] },
      { status: random.one(['success', 'failed', 'nonsense']), output: {}, usage: { input_tokens: 1, cost: 0.5 } },
    ]),
  attempt: (input) =>
    WORKER_BODIES.map((readers) =>
      unlessRefused(
        () => readers.body?.(input),
        () => 'taken',
      ),
    ).join(', '),
}

const trace: Target = {
  name: 'traceparent and Retry-After',
  words: [
    '00-',
    'ff-',
    '0'.repeat(32),
    'a'.repeat(16),
    '-01',
    '120',
    'Thu, 01 Jan 1970 00:00:00 GMT',
    '-1',
    '1e9',
    ' ',
  ],
  draw: (random) =>
    random.one([
      `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
      '120',
      'Wed, 21 Oct 2026 07:28:00 GMT',
      `cc-${'1'.repeat(32)}-${'2'.repeat(16)}-00-x`,
    ]),
  attempt: (input) => {
    const text = asText(input)
    const traceparent = readTraceparent(text)
    must(traceparent === null || /^00-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/.test(traceparent), 'a trace has its shape')
    const wait = retryAfterMs({ 'retry-after': text, date: 'Thu, 15 Jan 2026 00:00:00 GMT' })
    must(wait === null || (Number.isFinite(wait) && wait >= 0), 'a wait is no less than nothing')
    return `${traceparent === null ? 'no trace' : 'a trace'}, ${wait === null ? 'no wait' : 'a wait'}`
  },
}

const signed: Target = {
  name: 'signatures and keys',
  words: ['v1,', 'v0=', ' ', ',', '=', 'whsec_', '1768435200'],
  draw: (random) => random.one(['v1,AAAA v1,BBBB', 'v0=abcdef', 'v1a,x', '1768435200', 'key-1']),
  attempt: (input) => {
    const text = asText(input)
    const request = { timestamp: '1768435200', signature: text, body: Buffer.from('{}'), now: 1_768_435_200_000 }
    must(slackFlaw(request, 'secret') !== null, 'nobody guesses a signature of Slack')
    must(hookFlaw({ ...request, id: text }, 'whsec_c2VjcmV0') !== null, 'nobody guesses a signature of a hook')
    return unlessRefused(
      () => readKey('Idempotency-Key', text),
      () => 'a key',
    )
  },
}

const refusals: Target = {
  name: 'refusals as they are told',
  words: ['field', 'message', 'value'],
  draw: () => ({ field: 'payload.a.b', message: 'is wrong', value: { a: 1 } }),
  attempt: (input) => {
    const fields = asFields(input)
    const field = asText(fields['field'] ?? '')
    const told = problemOf(
      new Refusal('VALIDATION', 'x', { flaws: [{ field, value: fields['value'], message: 'is wrong' }] }),
      'req_1',
    )
    must(JSON.stringify(told).length < 20_000 + 6 * field.length, 'a problem is not much longer than what is wrong')
    return 'told'
  },
}

/** Everything that is read off the wire before anybody looks at what it means. */
export const WIRE_TARGETS: readonly Target[] = [
  ...[host, authorization, tags, cursor, body, rpc, worker, trace, signed, refusals],
]
