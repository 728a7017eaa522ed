import { describe, expect, it } from 'vitest'
import { changeRequestIn } from '../../../src/domain/draft/requests.ts'

describe('what somebody wants otherwise', () => {
  it.each([
    ['shorter please', 'length', null],
    ['Can you make it a bit shorter?', 'length', null],
    ['make it much shorter', 'length', null],
    ['too long', 'length', null],
    ['more details please', 'length', null],
    ['in at most 50 words', 'length', 'In at most 50 words.'],
    ['at most 50 words', 'length', 'At most 50 words.'],
    ['In German, please!', 'language', 'Answer in German.'],
    ['now translate it to French', 'language', 'Answer in French.'],
    ['as a table', 'format', 'As a table.'],
    ['please use bullet points', 'format', 'Use bullet points.'],
    ['more formal', 'tone', 'More formal.'],
    ['no emojis', 'content', 'No emojis.'],
    ['only the urgent ones please', 'content', 'Only the urgent ones.'],
    ['短一点', 'length', null],
    ['请用德语回答', 'language', '用德语回答。'],
    ['不超过100字', 'length', '不超过100字。'],
    ['用表格形式', 'format', '用表格形式。'],
    ['不要表情符号', 'content', '不要表情符号。'],
  ])('%j', (message, kind, text) => {
    const wish = changeRequestIn(message)
    expect([wish?.kind ?? null, wish?.text ?? null]).toEqual([kind, text])
  })

  it.each([
    'Summarise my inbox',
    'What is new?',
    'in Klingon',
    'Write a short story about a clock in Berlin',
    'thanks',
    '总结我的收件箱',
    `no ${'x'.repeat(200)}`,
    'no emojis\nand no links',
  ])('is nothing in %j', (message) => {
    expect(changeRequestIn(message)).toBeNull()
  })
})
