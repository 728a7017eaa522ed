import { describe, expect, it } from 'vitest'
import { describeFlaw } from '../../../src/domain/input.ts'
import { parseCron } from '../../../src/domain/time/cron-grammar.ts'
import { right } from './world.ts'

/** Expression, the cron field that must be named, the text that must be quoted, its position counted from 0. */
const REFUSED: readonly (readonly [string, string, string, number])[] = [
  ['61 * * * *', 'minute', '61', 0],
  ['60 * * * *', 'minute', '60', 0],
  ['* 24 * * *', 'hour', '24', 2],
  ['* * 0 * *', 'day of month', '0', 4],
  ['* * 32 * *', 'day of month', '32', 4],
  ['* * * 0 *', 'month', '0', 6],
  ['* * * 13 *', 'month', '13', 6],
  ['* * * * 8', 'day of week', '8', 8],
  ['60 * * * * *', 'second', '60', 0],
  ['0 0 0 1 1 * 1969', 'year', '1969', 12],
  ['0 0 0 1 1 * 2200', 'year', '2200', 12],
  ['*/0 * * * *', 'minute', '0', 2],
  ['*/60 * * * *', 'minute', '60', 2],
  ['0 */24 * * *', 'hour', '24', 4],
  ['0 0 */32 * *', 'day of month', '32', 6],
  ['0 0 1 */13 *', 'month', '13', 8],
  ['0 0 * * */8', 'day of week', '8', 10],
  ['0 0 0 1 1 * */2200', 'year', '2200', 14],
  ['5-10/0 * * * *', 'minute', '0', 5],
  ['1/2147483648 * * * *', 'minute', '2147483648', 2],
  ['1/k * * * *', 'minute', 'k', 2],
  ['*/ * * * *', 'minute', 'step', 2],
  ['/15 * * * *', 'minute', '/15', 0],
  ['/ * * * *', 'minute', '/', 0],
  ['*/5/5 * * * *', 'minute', '*/5/5', 0],
  ['5/* * * * *', 'minute', '*', 2],
  ['0 17-9 * * *', 'hour', '17-9', 2],
  ['0 0 * NOV-FEB *', 'month', 'NOV-FEB', 6],
  ['0 0 * * FRI-MON', 'day of week', 'FRI-MON', 8],
  ['50-10/5 * * * *', 'minute', '50-10', 0],
  ['1-2-3 * * * *', 'minute', '1-2-3', 0],
  ['-5 * * * *', 'minute', 'value', 0],
  ['5- * * * *', 'minute', 'value', 2],
  ['1,,2 * * * *', 'minute', 'empty', 2],
  ['1, * * * *', 'minute', 'empty', 2],
  [',1 * * * *', 'minute', 'empty', 0],
  ['1.5 * * * *', 'minute', '1.5', 0],
  ['0x5 * * * *', 'minute', '0x5', 0],
  ['** * * * *', 'minute', '**', 0],
  ['*5 * * * *', 'minute', '*5', 0],
  ['5* * * * *', 'minute', '5*', 0],
  ['H * * * *', 'minute', 'H', 0],
  ['MON 0 * * *', 'minute', 'MON', 0],
  ['0 0 MON * *', 'day of month', 'MON', 4],
  ['0 0 * MON *', 'month', 'MON', 6],
  ['0 0 * * JAN', 'day of week', 'JAN', 8],
  ['0 0 1 January *', 'month', 'January', 6],
  ['0 0 * * Monday', 'day of week', 'Monday', 8],
  ['? * * * *', 'minute', '?', 0],
  ['* ? * * *', 'hour', '?', 2],
  ['0 0 1 ? *', 'month', '?', 6],
  ['+0 0 * * *', 'minute', '+0', 0],
  ['0 +0 * * *', 'hour', '+0', 2],
  ['0 0 1 +1 *', 'month', '+1', 6],
  ['0 0 1 * MON+', 'day of week', 'MON+', 8],
  ['0 0 1 * +', 'day of week', 'empty', 9],
  ['0 0 1 * 1,+2', 'day of week', '+2', 10],
  ['0 0 L-31 * *', 'day of month', 'L-31', 4],
  ['0 0 32W * *', 'day of month', '32', 4],
  ['0 0 W * *', 'day of month', 'W', 4],
  ['0 0 1W,15 * *', 'day of month', '1W', 4],
  ['0 0 L,15W * *', 'day of month', '15W', 6],
  ['0 0 LW,1 * *', 'day of month', 'LW', 4],
  ['0 0 1-5W * *', 'day of month', '5W', 6],
  ['0 0 * * L', 'day of week', 'L', 8],
  ['0 0 * * 5W', 'day of week', '5W', 8],
  ['0 0 * * 1#0', 'day of week', '0', 10],
  ['0 0 * * 1#6', 'day of week', '6', 10],
  ['0 0 * * MON#', 'day of week', 'week', 12],
  ['0 0 * * #2', 'day of week', 'value', 8],
  ['0 0 * * 9L', 'day of week', '9', 8],
  ['0 0 * * 1-5L', 'day of week', '5L', 10],
  ['0 0 * L *', 'month', 'L', 6],
  ['  61  * * * *', 'minute', '61', 2],
  ['*\t24\t* * *', 'hour', '24', 2],
  ['0 0 * * 1\n', 'day of week', '1', 8],
]

describe('a cron expression that is refused', () => {
  it.each(REFUSED)('%j names the %s, quotes %s and points at %i', (text, field, quoted, position) => {
    const answer = parseCron('cron', text)
    if (answer.ok) throw new Error('was accepted')
    const [flaw] = answer.flaws
    expect(answer.flaws).toHaveLength(1)
    expect(flaw).toMatchObject({ field: 'cron', value: text, position })
    expect(flaw?.message.startsWith(`${field} `)).toBe(true)
    expect(flaw?.message).toContain(quoted)
    expect(flaw?.allowed).toBeTruthy()
  })

  it.each([
    ['', 'is empty', 0],
    ['   ', 'is empty', 3],
    ['*', 'has 1 field', 1],
    ['* * * *', 'has 4 fields', 7],
    ['* * * * * * * *', 'has 8 fields', 14],
    ['@reboot', '@reboot is not a known nickname', 0],
    ['@every 5m', '@every 5m is not a known nickname', 0],
    [' @', '@ is not a known nickname', 1],
    ['@constructor', '@constructor is not a known nickname', 0],
  ])('%j as a whole: %s', (text, message, position) => {
    expect(parseCron('expr', text)).toMatchObject({ ok: false, flaws: [{ field: 'expr', message, position }] })
  })

  it('gets one flaw for every field that is wrong, from left to right', () => {
    const answer = parseCron('cron', '61 25 L-99 13 9#9')
    expect(answer.ok ? [] : answer.flaws.map(describeFlaw)).toEqual([
      'cron "61 25 L-99 13 9#9": minute 61 is above 59 at position 1 (allowed: 0-59)',
      'cron "61 25 L-99 13 9#9": hour 25 is above 23 at position 4 (allowed: 0-23)',
      'cron "61 25 L-99 13 9#9": day of month L-99 is before the first day of the month at position 7 (allowed: L-0 to L-30)',
      'cron "61 25 L-99 13 9#9": month 13 is above 12 at position 12 (allowed: 1-12 or JAN-DEC)',
      'cron "61 25 L-99 13 9#9": day of week 9 is above 7 at position 15 (allowed: 0-7 or SUN-SAT, nL or n#k)',
    ])
  })

  it('is not a text at all', () => {
    expect(parseCron('cron', 5).ok).toBe(false)
    expect(parseCron('cron', null).ok).toBe(false)
    expect(parseCron('cron', '*'.repeat(100_000))).toMatchObject({ ok: false, flaws: [{ message: 'is too long' }] })
  })
})

describe('a cron expression that is understood', () => {
  const days = (text: string): object => right(parseCron('cron', text)).days

  it.each([
    ['0 0 * * MON/2', '0 0 * * 1,3,5'],
    ['0 0 * * 7/2', '0 0 * * 0/2'],
    ['0 0 * * thu-sun', '0 0 * * 4,5,6,0'],
    ['0 0 * * 5-7', '0 0 * * FRI,SAT,SUN'],
    ['0 0 * JAN-mar *', '0 0 * 1,2,3 *'],
    ['0 0 ? * ?', '0 0 * * */1'],
    ['0 0 lw * *', '0 0 LW * *'],
    ['0 0 l-3 * *', '0 0 L-03 * *'],
    ['0 0 * * fril', '0 0 * * 5L'],
    ['0 0 * * 7#1', '0 0 * * sun#1'],
    ['0 0 0 1 1 * */1', '0 0 0 1 1 * 1970-2199'],
  ])('%s means the same days as %s and shares them', (one, other) => {
    expect(days(one)).toBe(days(other))
  })

  it('counts a day field as restricted by its text, not by its values', () => {
    expect(days('0 0 1-31 * 1')).toMatchObject({ anyDayOfMonth: false })
    expect(days('0 0 */1 * 1')).toMatchObject({ anyDayOfMonth: true })
  })

  it.each([
    ['0 5 * * *', false],
    ['0,15,30,45 5 * * *', false],
    ['0-0 5 * * *', true],
    ['30/30 5 * * *', true],
    ['0 0 1-5 * MON-FRI', false],
    ['@hourly', true],
    ['@daily', false],
    ['* 0 0 * * *', true],
  ])('%s is an interval: %s', (text, interval) => {
    expect(right(parseCron('cron', text)).isInterval).toBe(interval)
  })

  it('keeps its text, without blanks around it', () => {
    expect(right(parseCron('cron', ' \t0 9 * * 1-5 ')).text).toBe('0 9 * * 1-5')
    expect(right(parseCron('cron', ' @Daily')).text).toBe('@Daily')
  })
})
