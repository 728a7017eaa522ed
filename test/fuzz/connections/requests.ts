import { createServer } from 'node:http'
import { hostLine, keyLine, type Place } from './wire.ts'

/** Bytes that are no request, or one that others might read differently, and what must come back. */
export interface BadRequest {
  readonly name: string
  readonly bytes: (place: Place) => string
  /** The statuses of everything that comes back, in order. */
  readonly statuses: readonly number[]
  /** Whether the connection must be over then. */
  readonly closed: boolean
  /** The problem that must be told. */
  readonly code?: string
  /** Nothing more will be sent, which is said. */
  readonly half?: boolean
}

const PREVIEW = '/api/v1/schedules/preview'
const BODY = '{"every_seconds":9}'

const post = (head: string, body = ''): ((place: Place) => string) => {
  return (place) =>
    `POST ${PREVIEW} HTTP/1.1\r\n${hostLine(place)}${keyLine(place)}Content-Type: application/json\r\n${head}\r\n${body}`
}
const get = (path: string, head = ''): ((place: Place) => string) => {
  return (place) => `GET ${path} HTTP/1.1\r\n${hostLine(place)}${head}\r\n`
}
const smuggled = (place: Place): string => get('/health')(place)

const CHUNKED = 'Transfer-Encoding: chunked\r\n'
const END = '0\r\n\r\n'
const length = (text: string | number): string => `Content-Length: ${text}\r\n`

/** Refused as what cannot be read, and nothing after it is looked at. */
const malformed = (name: string, bytes: (place: Place) => string, half = false): BadRequest => ({
  ...{ name, bytes, statuses: [400], closed: true, code: 'MALFORMED', half },
})

/** A body whose end two readers would see in two places, with a request behind it that only one of them would see. */
const FRAMING: readonly BadRequest[] = [
  malformed('a length and chunks', (place) => post(`${length(5)}${CHUNKED}`, END)(place) + smuggled(place)),
  malformed('chunks and a length', (place) => post(`${CHUNKED}${length(5)}`, END)(place) + smuggled(place)),
  malformed('two lengths', (place) => post(`${length(0)}${length(33)}`)(place) + smuggled(place)),
  malformed('the same length twice', post(length(2) + length(2), '{}')),
  malformed('a list of lengths', post(length('2, 2'), '{}')),
  malformed('a length with a sign', post(length('+2'), '{}')),
  malformed('a length below zero', post(length(-1), '{}')),
  malformed('a length in hex', post(length('0x2'), '{}')),
  malformed('a length beyond all numbers', post(length('9'.repeat(30)), '{}')),
  malformed('an empty length', post(length(''), '{}')),
  malformed('chunks under another name', post('Transfer-Encoding: xchunked\r\n', END)),
  malformed('chunks before something else', post('Transfer-Encoding: chunked, identity\r\n', END)),
  malformed('chunks twice', post(`${CHUNKED}Transfer-Encoding: identity\r\n`, END)),
  malformed('chunks after a tab of another kind', post('Transfer-Encoding: \u000bchunked\r\n', END)),
  malformed('a space before the colon', post('Transfer-Encoding : chunked\r\n', END)),
  malformed('a value on the next line', post(`Transfer-Encoding:\r\n chunked\r\n${length(2)}`, '{}')),
  malformed('a chunk whose size is none', post(CHUNKED, `zz\r\n{}\r\n${END}`)),
  malformed('a chunk whose size has a sign', post(CHUNKED, `-2\r\n{}\r\n${END}`)),
  malformed('a chunk beyond all numbers', post(CHUNKED, `ffffffffffffffffff\r\n{}\r\n${END}`)),
  malformed('a chunk longer than it says', post(CHUNKED, `2\r\n{}x${END}`)),
  malformed('chunks with bare line feeds', post(CHUNKED, '2\n{}\n0\n\n')),
  malformed('a chunk with a long remark', post(CHUNKED, `2;${'x'.repeat(100_000)}\r\n{}\r\n${END}`)),
  malformed('a length after the chunks', post(CHUNKED, `2\r\n{}\r\n0\r\n${length(33)}\r\n`)),
  malformed('a body that ends early', post(length(100), '{"a'), true),
]

const LETTERS: readonly BadRequest[] = [
  malformed('bare line feeds', ({ port }) => `GET /health HTTP/1.1\nHost: 127.0.0.1:${port}\n\n`),
  malformed('a bare line feed between headers', get('/health', 'X: a\nY: b\r\n')),
  malformed('a bare carriage return', get('/health', 'X: a\rY: b\r\n')),
  malformed('a header on two lines', get('/health', 'X: a\r\n b\r\n')),
  malformed('NUL in a value', get('/health', 'X: a\0b\r\n')),
  malformed('NUL in a name', get('/health', 'X\0: a\r\n')),
  malformed('NUL in the path', get('/hea\0lth')),
  malformed('a space in the path', get('/hea lth')),
  malformed('a header without a name', get('/health', ': a\r\n')),
  malformed('a header without a colon', get('/health', 'abc\r\n')),
  malformed('a method that nobody knows', (place) => get('/health')(place).replace('GET', 'FOO')),
  malformed('a version that nobody knows', (place) => get('/health')(place).replace('1.1', '1.2')),
  malformed('the first words of HTTP/2', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  malformed('the first bytes of TLS', () => Buffer.from('16030100c8010000c40303', 'hex').toString('latin1')),
]

const AMBIGUOUS: readonly BadRequest[] = [
  { ...malformed('two hosts', get('/health', 'Host: elsewhere\r\n')), closed: false },
  { ...malformed('two keys', (place) => get('/health', keyLine(place).repeat(2))(place)), closed: false },
  { ...malformed('an encoding nobody undoes', post('Transfer-Encoding: gzip, chunked\r\n', END)), closed: false },
  { name: 'an address elsewhere', bytes: get('http://elsewhere/health'), statuses: [421], closed: false },
  { name: 'no Host', bytes: () => 'GET /health HTTP/1.1\r\n\r\n', statuses: [400], closed: true },
  {
    ...{ name: 'a tunnel', statuses: [405], closed: true, code: 'METHOD_NOT_ALLOWED' },
    bytes: (place) => `CONNECT elsewhere:443 HTTP/1.1\r\n${hostLine(place)}\r\n`,
  },
]

const TOO_MUCH: readonly BadRequest[] = [
  { name: 'an address of 20,000 letters', bytes: get(`/${'a'.repeat(20_000)}`), ...tooLarge() },
  { name: 'a hundred thousand headers', bytes: get('/health', 'a:\r\n'.repeat(100_000)), ...tooLarge() },
  {
    name: 'twenty thousand trailers',
    bytes: post(CHUNKED, `2\r\n{}\r\n0\r\n${'a: b\r\n'.repeat(20_000)}\r\n`),
    ...tooLarge(),
  },
]

function tooLarge(): Pick<BadRequest, 'statuses' | 'closed' | 'code'> {
  return { statuses: [431], closed: true, code: 'HEADERS_TOO_LARGE' }
}

const OFFER = 'Connection: Upgrade\r\nUpgrade: h2c\r\n'

/** From 24.9 on Node loses what comes behind such an offer, so whoever makes it is told to come again. */
const afterOfferWithBody: Pick<BadRequest, 'statuses' | 'closed'> =
  'shouldUpgradeCallback' in createServer()
    ? { statuses: [200], closed: true }
    : { statuses: [200, 200], closed: false }

/** Nothing is wrong with these, and still they are easily answered wrongly: how many answers, and in which order. */
const IN_ORDER: readonly BadRequest[] = [
  {
    name: 'fifty at once',
    bytes: (place) => smuggled(place).repeat(50),
    statuses: Array<number>(50).fill(200),
    closed: false,
  },
  {
    ...{ name: 'fifty offers of another protocol at once', statuses: Array<number>(50).fill(200), closed: false },
    bytes: (place) => get('/health', OFFER)(place).repeat(50),
  },
  {
    ...{ name: 'an offer behind something slow', statuses: [200, 404, 200], closed: false },
    bytes: (place) =>
      get('/api/v1/schedules', keyLine(place))(place) + get('/nowhere', OFFER)(place) + get('/health')(place),
  },
  {
    ...{ name: 'an offer that ends the connection', statuses: [200], closed: true },
    bytes: get('/health', 'Connection: Upgrade, close\r\nUpgrade: h2c\r\n'),
  },
  {
    ...{ name: 'an offer with a body', ...afterOfferWithBody },
    bytes: (place) => post(`${OFFER}${length(BODY.length)}`, BODY)(place) + get('/health')(place),
  },
  {
    ...{ name: 'a body that asks first', statuses: [100, 200], closed: false },
    bytes: post(`Expect: 100-continue\r\n${length(BODY.length)}`, BODY),
  },
]

export const BAD_REQUESTS: readonly BadRequest[] = [...FRAMING, ...LETTERS, ...AMBIGUOUS, ...TOO_MUCH, ...IN_ORDER]
