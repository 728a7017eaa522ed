import { describe, expect, it } from 'vitest'
import { run } from './run.ts'

const preview = (...args: readonly string[]): ReturnType<typeof run> => run(['cron', 'preview', ...args])

describe('a preview', () => {
  it('tells the sentence, the times in the zone and in UTC, and what a clock change does', async () => {
    const { code, stdout, stderr } = await preview(
      ...['30 2 * * *', '--tz', 'Europe/Berlin', '--from', '2027-03-26T12:00:00Z', '--count', '3'],
    )
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout.split('\n')).toEqual([
      expect.stringMatching(/^At 02:30.*Europe\/Berlin/),
      '',
      '  Europe/Berlin                 UTC',
      '  Sat 2027-03-27 02:30 +01:00   2027-03-27T01:30:00.000Z',
      '  Sun 2027-03-28 03:00 +02:00   2027-03-28T01:00:00.000Z',
      '  Mon 2027-03-29 02:30 +02:00   2027-03-29T00:30:00.000Z',
      '',
      'Clock changes:',
      expect.stringContaining('2027-03-28 02:30 does not exist in Europe/Berlin'),
      '',
    ])
  })

  it('starts now, in UTC, with ten times, unless it is told otherwise', async () => {
    const { stdout } = await preview('0 9 * * *')
    const times = stdout.split('\n').filter((line) => line.endsWith('Z'))
    expect(times).toHaveLength(10)
    expect(times[0]).toBe('  Mon 2026-11-16 09:00 +00:00   2026-11-16T09:00:00.000Z')
  })

  it('only mentions clock changes that touch nothing', async () => {
    const { stdout } = await preview('0 9 * * *', '--tz', 'Europe/Berlin', '--from', '2027-03-26T12:00:00Z')
    expect(stdout).toContain('\n1 clock change in this period; no fire time is affected.\n')
  })

  it('obeys the policy and the day rule', async () => {
    const shifted = await preview(
      ...['30 2 * * *', '--tz', 'Europe/Berlin', '--dst', 'shift', '--from', '2027-03-27T12:00:00Z', '--count', '1'],
    )
    expect(shifted.stdout).toContain('Sun 2027-03-28 03:30 +02:00')
    const both = await preview('0 0 13 * 5', '--day-match', 'and', '--count', '1')
    expect(both.stdout).toContain('Fri 2027-08-13 00:00')
  })

  it('says so when the expression never fires', async () => {
    const { code, stdout } = await preview('0 0 30 2 *')
    expect(code).toBe(0)
    expect(stdout).toContain('never after 2026-11-15T12:00:00.000Z')
  })

  it('is JSON on demand', async () => {
    const { stdout } = await preview('0 9 * * 1-5', '--tz', 'europe/berlin', '--count', '1', '--json')
    expect(JSON.parse(stdout)).toEqual({
      expr: '0 9 * * 1-5',
      tz: 'Europe/Berlin',
      dst: 'vixie',
      dayMatch: 'or',
      from: '2026-11-15T12:00:00.000Z',
      sentence: expect.stringContaining('09:00') as unknown,
      next: [{ at: '2026-11-16T08:00:00.000Z', local: '2026-11-16 09:00', offset: '+01:00' }],
      dstNotes: [],
    })
  })
})

describe('a refused preview', () => {
  it('points at every fault of the expression and says what is allowed', async () => {
    const { code, stdout, stderr } = await preview('*/15 61 * FOO *')
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr.split('\n')).toEqual([
      expect.stringMatching(/^EXPR: .*hour.*61/),
      '  */15 61 * FOO *',
      '       ^ position 6',
      '  allowed: 0-23',
      expect.stringMatching(/^EXPR: .*month.*FOO/),
      '  */15 61 * FOO *',
      '            ^ position 11',
      expect.stringMatching(/^ {2}allowed: 1-12/),
      '',
    ])
  })

  it('keeps the caret in place behind a tab', async () => {
    const { stderr } = await preview('0\t61 * * *')
    expect(stderr).toContain('\n  0 61 * * *\n    ^ position 3\n')
  })

  const cases: readonly (readonly [args: readonly string[], complaint: string])[] = [
    [['--tz', 'Mars/Base'], '--tz "Mars/Base" is not a known time zone\n  allowed: an IANA time zone'],
    [['--dst', 'maybe'], '--dst "maybe" is not a known value\n  allowed: vixie, skip, shift, both'],
    [['--day-match', 'xor'], '--day-match "xor" is not a known value\n  allowed: or, and'],
    [['--count', '0'], '--count 0 is out of range\n  allowed: a whole number from 1 to 1000'],
    [['--count', '1001'], '--count 1001 is out of range'],
    [['--count', 'many'], '--count "many" must be a whole number'],
    [['--from', 'tomorrow'], '--from "tomorrow" is not an RFC 3339 time'],
  ]

  it.each(cases)('names the option: %j', async (args, complaint) => {
    const { code, stdout, stderr } = await preview('0 9 * * *', ...args)
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain(complaint)
  })
})
