import { describe, expect, it } from 'vitest'
import {
  fillJson,
  fillText,
  fillUrl,
  asText,
  parseUrlTemplate,
  templateFlaws,
} from '../../../src/executors/template.ts'

const VALUES = {
  ...{ run_id: 'run_1', job_run_id: 'job/1', scheduled_time: '2026-01-15T07:00:00Z', attempt: 2 },
  payload: {
    name: 'Ann & Bo',
    path: '../../admin',
    n: 5,
    list: [1, 2],
    nested: { deep: 'x' },
    again: '{{run_id}}',
    none: null,
  },
}

describe('an address with templates', () => {
  it.each([
    ['https://a.example/x/{{run_id}}', 'https://a.example/x/run_1'],
    ['https://a.example/{{job_run_id}}/y', 'https://a.example/job%2F1/y'],
    ['https://a.example/?q={{payload.name}}&n={{ attempt }}', 'https://a.example/?q=Ann%20%26%20Bo&n=2'],
    ['https://a.example/?t={{scheduled_time}}', 'https://a.example/?t=2026-01-15T07%3A00%3A00Z'],
    ['https://a.example/{{payload.nested.deep}}', 'https://a.example/x'],
    ['https://a.example/{{payload.missing}}/z', 'https://a.example//z'],
    ['https://a.example/{{payload.list}}', 'https://a.example/%5B1%2C2%5D'],
    ['https://a.example/{{payload.again}}', 'https://a.example/%7B%7Brun_id%7D%7D'],
    ['https://a.example/{{payload.path}}', 'https://a.example/..%2F..%2Fadmin'],
    ['https://a.example/plain', 'https://a.example/plain'],
  ])('%s becomes %s', (template, url) => {
    expect(fillUrl(template, VALUES)).toBe(url)
  })

  it.each([
    '..',
    '.',
    '%2e%2e',
    '@evil.example',
    ':99',
    '//evil.example',
    '\\evil',
    '#x',
    '?x',
    'a/b',
    '\r\n',
    '\ud800',
  ])('stays where it is, whatever stands in it: %j', (name) => {
    for (const template of ['https://a.example/a/{{payload.name}}/b', 'https://a.example/?q={{payload.name}}']) {
      const url = fillUrl(template, { ...VALUES, payload: { name } })
      if (url === null) continue
      expect(new URL(url).origin).toBe('https://a.example')
      expect(new URL(url).pathname).toMatch(/^\/(?:a\/[^/]*\/b)?$/)
      expect(new URL(url).hash).toBe('')
    }
  })

  it('that would climb in the path is none', () => {
    expect(fillUrl('https://a.example/a/{{payload.name}}/b', { ...VALUES, payload: { name: '..' } })).toBeNull()
  })

  it.each([
    ...['{{payload.scheme}}://a.example/', 'https://{{payload.host}}/', 'https://a.example:{{payload.port}}/'],
    ...[
      'https://{{payload.x}}.a.example/x',
      'https://a.example{{payload.x}}',
      '{{payload.url}}',
      'https://a{{run_id}}?q',
    ],
  ])('must not choose whom we talk to: %s', (template) => {
    const read = parseUrlTemplate('executor.url', template)
    expect(read.ok ? [] : read.flaws.map((flaw) => flaw.message)).toContain(
      'must not contain a template in its scheme, host or port',
    )
  })
})

describe('templates', () => {
  it('stand for what there is, and for nothing else', () => {
    for (const fine of ['{{run_id}}', '{{ attempt }}', '{{payload}}', '{{payload.a.b}}', 'no braces', '{single}', '{{'])
      expect(templateFlaws('f', fine)).toEqual([])
    for (const wrong of ['{{nope}}', '{{}}', '{{payload.}}', '{{run_id.x}}', '{{payloadx}}', '{{constructor}}'])
      expect(templateFlaws('f', wrong)).toHaveLength(1)
    expect(templateFlaws('f', 'a {{secret:KEY}}')).toMatchObject([
      { message: expect.stringContaining('only headers and bodies of agents') as string, position: 2 },
    ])
    expect(templateFlaws('f', 'a {{secret:KEY}}{{ secret:a-b_1 }}', { secrets: true })).toEqual([])
    for (const wrong of ['{{secret:}}', '{{secret:a.b}}', '{{secret:1a}}', '{{secret: KEY}}'])
      expect(templateFlaws('f', wrong, { secrets: true })).toHaveLength(1)
  })

  it('are filled in one pass, as text', () => {
    expect(fillText('{{run_id}} {{payload.again}} {{payload.none}}!', VALUES, asText)).toBe('run_1 {{run_id}} !')
  })

  it('do not reach what is not in the payload', () => {
    expect(fillText('{{payload.constructor.name}}{{payload.list.length}}', VALUES, asText)).toBe('2')
    expect(fillText('{{payload.__proto__}}', VALUES, asText)).toBe('')
  })

  it('in JSON become the value itself where nothing else stands', () => {
    const body = {
      n: '{{payload.n}}',
      list: ['{{payload.list}}', 'n is {{payload.n}}'],
      gone: '{{payload.x}}',
      keep: 1,
    }
    expect(fillJson(body, VALUES)).toEqual({ n: 5, list: [[1, 2], 'n is 5'], gone: null, keep: 1 })
  })
})
