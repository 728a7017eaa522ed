import { describe, expect, it } from 'vitest'
import { createStreamReader } from '../../src/client/events.ts'

const STREAM = [
  ': hello\n\n',
  'retry: 250\n',
  'id: 1-0\r\nevent: run.changed\r\ndata: {"a":\r\ndata: 1}\r\n\r\n',
  'data:no space\n\n',
  'id: 2-0\revent: reset\rdata\r\r',
  'id: bad\0id\ndata: ü\n\n',
  'data: never finished',
].join('')

const MESSAGES = [
  { id: '1-0', event: 'run.changed', data: '{"a":\n1}' },
  { id: '1-0', event: 'message', data: 'no space' },
  { id: '2-0', event: 'reset', data: '' },
  { id: '2-0', event: 'message', data: 'ü' },
]

describe('a stream of events', () => {
  it.each([1, 2, 3, 7, 1_000])('is the same in portions of %i characters', (size) => {
    const reader = createStreamReader('')
    const messages = []
    for (let at = 0; at < STREAM.length; at += size) messages.push(...reader.push(STREAM.slice(at, at + size)))
    expect(messages).toEqual(MESSAGES)
    expect(reader.retryMs()).toBe(250)
  })

  it('begins with the id it goes on behind', () => {
    expect(createStreamReader('7-1').push('data: x\n\n')).toEqual([{ id: '7-1', event: 'message', data: 'x' }])
  })
})
