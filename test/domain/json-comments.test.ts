import { describe, expect, it } from 'vitest'
import { withoutComments } from '../../src/domain/json.ts'

describe('JSON with comments', () => {
  it.each([
    ['a line comment', '{\n "a": 1, // every\n "b": 2\n}', { a: 1, b: 2 }],
    ['a block comment', '{"a": /* one\ntwo */ 1}', { a: 1 }],
    ['a comment before everything', '// jobs\n[1]', [1]],
    ['what looks like one inside a text', '{"url": "http://x/*y*/"}', { url: 'http://x/*y*/' }],
    ['a quote inside a text', String.raw`{"a": "\"// no", "b": 1} // yes "`, { a: '"// no', b: 1 }],
    ['a quote inside a comment', '{"a": 1 // don"t\n}', { a: 1 }],
  ])('is read without them: %s', (_, text, value) => {
    expect(JSON.parse(withoutComments(text))).toEqual(value)
  })

  it('keeps its lines and columns, so that mistakes are told where they are', () => {
    const text = '{"a": /* x\ny */ 1, // z\n oops}'
    const plain = withoutComments(text)
    expect(plain).toHaveLength(text.length)
    expect(plain.indexOf('oops')).toBe(text.indexOf('oops'))
  })

  it.each(['/*', '"\\', '//'])('is read in one go, however long it repeats %s', (part) => {
    const text = `{${part.repeat(500_000)}`
    expect(withoutComments(text)).toHaveLength(text.length)
  })

  it('leaves YAML alone', () => {
    const yaml = 'url: http://host/path // kept\n'
    expect(withoutComments(yaml)).toBe(yaml)
  })
})
