import { once } from 'node:events'
import { PassThrough, Readable, Writable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { runCronNext } from '../../src/cli/cron.ts'
import { instant } from '../../src/domain/instant.ts'
import { run } from './run.ts'
import { cpuMs } from '../support/cpu-time.ts'

const FROM = '2026-11-13T12:00:00.000Z'
const line = (row: object): string => `${JSON.stringify(row)}\n`

async function answers(input: Readable | string): Promise<readonly unknown[]> {
  const { code, stdout } = await run(['cron', 'next'], input)
  expect(code).toBe(0)
  return stdout
    .split('\n')
    .slice(0, -1)
    .map((text) => JSON.parse(text) as unknown)
}

describe('a well-formed line', () => {
  const cases: readonly (readonly [what: string, row: object, next: string | null])[] = [
    ['an expression in a zone', { expr: '0 9 * * 1-5', tz: 'Europe/Berlin', from: FROM }, '2026-11-16T08:00:00.000Z'],
    ['an expression without a zone', { expr: '0 9 * * *', from: FROM }, '2026-11-14T09:00:00.000Z'],
    ['a start with an offset', { expr: '0 9 * * *', from: '2026-11-13T09:59:59+01:00' }, '2026-11-13T09:00:00.000Z'],
    ['a fire at the start', { expr: '0 12 * * *', from: FROM }, '2026-11-14T12:00:00.000Z'],
    ['a fire at an inclusive start', { expr: '0 12 * * *', from: FROM, inclusive: true }, FROM],
    ['a date that does not exist', { expr: '0 0 30 2 *', from: FROM }, null],
    ['both day fields', { expr: '0 0 13 * 5', from: FROM, dayMatch: 'and' }, '2027-08-13T00:00:00.000Z'],
    [
      'a policy',
      { expr: '30 2 * * *', tz: 'Europe/Berlin', from: '2027-03-27T12:00:00Z', dst: 'shift' },
      '2027-03-28T01:30:00.000Z',
    ],
    [
      'options that are null',
      { expr: '0 9 * * *', from: FROM, tz: null, dst: null, dayMatch: null, inclusive: null },
      '2026-11-14T09:00:00.000Z',
    ],
    ['fields of somebody else', { id: 'x', expect: [], expr: '0 9 * * *', from: FROM }, '2026-11-14T09:00:00.000Z'],
  ]

  it.each(cases)('is answered: %s', async (_, row, next) => {
    expect(await answers(line(row))).toEqual([{ next }])
  })
})

describe('a line that cannot be answered', () => {
  const cases: readonly (readonly [what: string, text: string, mentioned: readonly string[]])[] = [
    ['not JSON', 'hello', ['line', 'hello', 'JSON object']],
    ['an empty line', '', ['line', 'JSON object']],
    ['a list', '[1]', ['line', 'JSON object']],
    ['no start', JSON.stringify({ expr: '* * * * *' }), ['from', 'RFC 3339']],
    [
      'a start without an offset',
      JSON.stringify({ expr: '* * * * *', from: '2026-11-13T12:00:00' }),
      ['from', 'offset'],
    ],
    ['no expression', JSON.stringify({ from: FROM }), ['expr', '5 fields']],
    [
      'a value out of range',
      JSON.stringify({ expr: '61 * * * *', from: FROM }),
      ['61', 'minute', '0-59', 'position 1'],
    ],
    [
      'an unknown zone',
      JSON.stringify({ expr: '* * * * *', tz: 'Mars/Base', from: FROM }),
      ['tz', 'Mars/Base', 'IANA'],
    ],
    [
      'an unknown policy',
      JSON.stringify({ expr: '* * * * *', dst: 'x', from: FROM }),
      ['dst', 'vixie, skip, shift, both'],
    ],
    [
      'a strange inclusive',
      JSON.stringify({ expr: '* * * * *', inclusive: 1, from: FROM }),
      ['inclusive', 'true, false'],
    ],
    [
      'several faults',
      JSON.stringify({ expr: '61 * * * *', tz: 'Nowhere', dst: 'x' }),
      ['minute', 'tz', 'dst', 'from'],
    ],
    ['a very long line', `"${'x'.repeat(200_000)}"`, ['longer than']],
  ]

  it.each(cases)('gets an error and does not end the command: %s', async (_, text, mentioned) => {
    const good = line({ expr: '0 9 * * *', from: FROM })
    const [first, second, third, ...others] = await answers(`${good}${text}\n${good}`)
    expect(first).toEqual({ next: '2026-11-14T09:00:00.000Z' })
    const { error } = second as { readonly error: string }
    for (const word of mentioned) expect(error).toContain(word)
    expect(third).toEqual(first)
    expect(others).toEqual([])
  })
})

describe('the stream', () => {
  const row = { expr: '*/5 * * * *', tz: 'Europe/Berlin', from: FROM }

  it('may lack the last newline, use CRLF, and be cut anywhere, even inside a character', async () => {
    const bytes = Buffer.from(`${JSON.stringify({ ...row, id: 'ü' })}\r\n${JSON.stringify({ ...row, expr: 'ü' })}`)
    const pieces = Array.from(bytes, (byte) => Buffer.from([byte]))
    const [first, second] = await answers(Readable.from(pieces))
    expect(first).toEqual({ next: '2026-11-13T12:05:00.000Z' })
    expect(second).toMatchObject({ error: expect.stringContaining('"ü"') as unknown })
  })

  it('may be empty', async () => {
    expect(await answers('')).toEqual([])
  })

  it('answers a line before the next one is asked', async () => {
    const stdin = new PassThrough()
    const stdout = new PassThrough()
    const terminal = { stdin, stdout, stderr: new PassThrough(), now: () => instant(0) }
    const ended = runCronNext(terminal)
    for (let n = 0; n < 3; n += 1) {
      stdin.write(line(row))
      const [answer] = (await once(stdout, 'data')) as readonly Buffer[]
      expect(answer?.toString('utf8')).toBe('{"next":"2026-11-13T12:05:00.000Z"}\n')
    }
    stdin.end()
    expect(await ended).toBe(0)
  })

  it('waits for a slow reader instead of piling up answers', async () => {
    let release: (() => void) | undefined
    let answered = 0
    const slow = new Writable({
      highWaterMark: 1,
      write: (chunk: Buffer, _encoding, done) => {
        answered += chunk.toString('utf8').split('\n').length - 1
        release = done
      },
    })
    let asked = 0
    const stdin = new Readable({
      highWaterMark: 1,
      read() {
        asked += 1
        this.push(asked <= 50 ? line(row) : null)
      },
    })
    const state = { ended: false }
    const running = runCronNext({ stdin, stdout: slow, stderr: new PassThrough(), now: () => instant(0) })
    void running.then(() => (state.ended = true))
    // Between two releases the command goes as far as it can without its reader, and that is not far.
    while (!state.ended) {
      await new Promise((resolve) => setImmediate(resolve))
      expect(asked - answered).toBeLessThan(5)
      release?.()
      release = undefined
    }
    expect(answered).toBe(50)
  })

  it('keeps the order of 100,000 lines, quickly', async () => {
    const count = 100_000
    const rows = Array.from({ length: count }, (_, n) =>
      line({ expr: `${n % 60} ${n % 24} * * *`, tz: n % 2 === 0 ? 'Europe/Berlin' : 'America/New_York', from: FROM }),
    )
    const started = cpuMs()
    const all = await answers(rows.join(''))
    expect(cpuMs() - started).toBeLessThan(5_000)
    expect(all).toHaveLength(count)
    all.forEach((answer, n) => {
      const { next } = answer as { readonly next: string }
      if (Number(next.slice(14, 16)) !== n % 60) throw new Error(`line ${n} was answered with ${next}`)
    })
  })
})
