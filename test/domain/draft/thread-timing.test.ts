import { describe, expect, it } from 'vitest'
import { isFiller, findTiming } from '../../../src/domain/draft/thread.ts'
import { instant } from '../../../src/domain/instant.ts'
import { UTC } from '../../../src/domain/time/zone.ts'

const context = { now: instant(Date.parse('2027-01-04T08:00:00Z')), zone: UTC }
const read = (message: string): readonly [string, string, Readonly<Record<string, unknown>>] | null => {
  const found = findTiming(message, context)
  return found === null ? null : [found.words, found.rest, found.fields]
}
const berlin = { cron: '0 9 * * 1-5', timezone: 'Europe/Berlin' }

describe('when something is to happen, said in a message', () => {
  it.each([
    ['Summarise my inbox every weekday at 9 in Berlin', ['every weekday at 9 in Berlin', 'Summarise my inbox', berlin]],
    [
      'Every weekday at 9 in Berlin, please summarise my inbox.',
      ['Every weekday at 9 in Berlin', 'Please summarise my inbox.', berlin],
    ],
    [
      'Every weekday at 9 in Berlin: summarise my inbox',
      ['Every weekday at 9 in Berlin', 'Summarise my inbox', berlin],
    ],
    [
      'Summarise my inbox. Do this every weekday at 9 in Berlin. Be brief.',
      ['every weekday at 9 in Berlin', 'Summarise my inbox. Be brief.', berlin],
    ],
    ['Great, now do that every 30 minutes', ['every 30 minutes', '', { every_seconds: 1_800 }]],
    ['请每天早上9点总结我的收件箱', ['每天早上9点', '请总结我的收件箱', { cron: '0 9 * * *' }]],
    ['请每个工作日上午9点做一次。', ['每个工作日上午9点', '', { cron: '0 9 * * 1-5' }]],
  ])('is found in %j', (message, wanted) => {
    expect(read(message)).toEqual(wanted)
  })

  it.each([
    'Summarise the weekly report',
    'What is the weather tomorrow at 9?',
    'Give me an idea for every day',
    'Read the 9 newest mails, each with its sender',
    '总结周报',
    'remind me on monday at 9',
    '',
  ])('is not made up for %j', (message) => {
    expect(read(message)).toBeNull()
  })

  it('is not looked for in sentences without end', () => {
    expect(findTiming('every 9 and each '.repeat(2_000), context)).toBeNull()
  })

  it('leaves nothing to do where only courtesies are left', () => {
    expect(['please do this', 'do it again', '请 做一次', ''].map(isFiller)).toEqual([true, true, true, true])
    expect(['do the dishes', '总结'].map(isFiller)).toEqual([false, false])
  })
})
