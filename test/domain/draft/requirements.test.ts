import { describe, expect, it } from 'vitest'
import { languageOfText } from '../../../src/domain/draft/requests.ts'
import { requirementsOf, roundedLimit, traitsOf } from '../../../src/domain/draft/requirements.ts'
import { threadOf, type ConversationMessage } from '../../../src/domain/draft/thread.ts'
import { instant } from '../../../src/domain/instant.ts'
import { UTC } from '../../../src/domain/time/zone.ts'

const context = { now: instant(0), zone: UTC }
const LIST = '- Two invoices are due\n- The server was restarted\n- Ann wants to meet'
const GERMAN = 'Die Rechnung ist fällig und der Server wurde neu gestartet, auch das Treffen mit Ann ist nicht sicher.'

const said = (...lines: readonly (readonly [string, unknown])[]): readonly ConversationMessage[] =>
  lines.map(([text, answer], no) => ({ runId: `run_${no}`, text, answer }))

const drawn = (messages: readonly ConversationMessage[], chosen: string) => {
  const thread = threadOf(messages, chosen, context)
  if (thread === null) throw new Error('no thread')
  return { thread, requirements: requirementsOf(thread) }
}

describe('what can be seen of an answer', () => {
  it.each([
    [LIST, { kind: 'bullets', items: 3 }],
    ['Today:\n1. one\n2. two', { kind: 'numbers', items: 2 }],
    ['| a | b |\n| --- | --- |\n| 1 | 2 |', { kind: 'table' }],
    ['{"a": 1}', { kind: 'json' }],
    ['```sh\nls\n```', { kind: 'code' }],
    ['All is well.', { kind: 'line' }],
    ['One.\n\nTwo.', null],
    [{ a: 1 }, { kind: 'json' }],
    [null, null],
    ['', null],
  ])('%j', (answer, format) => {
    expect(traitsOf(answer).format).toEqual(format)
  })

  it('its length is in words, or in characters where words do not stand apart', () => {
    expect(traitsOf(LIST).length).toEqual({ count: 12, unit: 'words' })
    expect(traitsOf('收件箱里有三封新邮件').length).toEqual({ count: 10, unit: 'characters' })
    expect([12, 60, 170, 400, 2_000].map(roundedLimit)).toEqual([20, 75, 250, 500, 2_400])
  })

  it('its language is told where it is sure', () => {
    expect(languageOfText(GERMAN)).toBe('German')
    expect(languageOfText('The invoice is due and the server was restarted on Monday')).toBe('English')
    expect(languageOfText('收件箱里有三封新邮件')).toBe('Chinese')
    expect(languageOfText('新しいメールが三通あります')).toBe('Japanese')
    expect([languageOfText('Hallo Ann'), languageOfText('foo bar baz qux quux corge grault')]).toEqual([null, null])
  })
})

describe('what a good answer requires', () => {
  it('is what is seen of it, for a message of its own', () => {
    const { thread, requirements } = drawn(said(['What is new in the inbox?', LIST]), 'run_0')
    expect(thread).toMatchObject({ prompt: 'What is new in the inbox?', earlier: 0, timing: null })
    expect(requirements.map(({ id, text, taken }) => [id, text, taken])).toEqual([
      ['format', 'Answer as a bullet list of about 3 items.', true],
      ['length', 'Use at most about 20 words.', true],
      ['language', 'Answer in English.', false],
    ])
  })

  it('is what was wanted on the way to it, of the message that asked', () => {
    const messages = said(
      ['Hello', 'Hello!'],
      ['What is new in the inbox?', 'A long text '.repeat(60)],
      ['shorter please', LIST],
      ['in German', GERMAN],
      ['no names', 'Die Rechnung ist fällig.'],
      ['even shorter', 'Rechnung fällig.'],
      ['every weekday at 9 in Berlin', 'I will.'],
      ['What is the weather?', 'Fine.'],
      ['in French', 'Beau.'],
    )
    const { thread, requirements } = drawn(messages, 'run_3')
    expect(thread).toMatchObject({ prompt: 'What is new in the inbox?', question: { runId: 'run_1' }, earlier: 1 })
    expect(thread.timing).toMatchObject({
      said: { fields: { cron: '0 9 * * 1-5', timezone: 'Europe/Berlin' } },
      message: { runId: 'run_6' },
    })
    expect(requirements.map(({ id, text, said: words, taken }) => [id, text, words, taken])).toEqual([
      ['format', 'Answer in one line.', null, true],
      ['wish-1', 'Answer in German.', 'in German', true],
      ['wish-2', 'No names.', 'no names', false],
      ['wish-3', 'Use at most about 10 words.', 'even shorter', false],
    ])
  })

  it('is told in Chinese to whoever asks in Chinese', () => {
    const { requirements } = drawn(said(['总结我的收件箱', '- 三封新邮件\n- 服务器已重启']), 'run_0')
    expect(requirements.map(({ text }) => text)).toEqual([
      '用项目符号列表回答，约 2 项。',
      '不超过约 20 字。',
      '用中文回答。',
    ])
  })

  it('is not what came back to whoever only said when', () => {
    const messages = said(
      ['What is new in the inbox?', LIST],
      ['Great, do that every day at 9', 'I will, as you wish.'],
    )
    const { thread, requirements } = drawn(messages, 'run_1')
    expect([thread.answered.runId, thread.prompt]).toEqual(['run_0', 'What is new in the inbox?'])
    expect(requirements[0]).toMatchObject({ id: 'format', runId: 'run_0' })
  })

  it('a wish without anything before it is a question', () => {
    const { thread, requirements } = drawn(said(['only the urgent ones', { a: 1 }]), 'run_0')
    expect([thread.prompt, requirements.map(({ text }) => text)]).toEqual([
      'only the urgent ones',
      ['Answer with JSON only.'],
    ])
    expect(threadOf([], 'run_0', context)).toBeNull()
  })
})
