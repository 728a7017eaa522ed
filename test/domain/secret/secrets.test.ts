import { describe, expect, it } from 'vitest'
import { createMask, createStreamMask, maskExecutor } from '../../../src/domain/secret/mask.ts'
import { fillJson, fillText, asText } from '../../../src/executors/template.ts'
import {
  isSecretName,
  isHostAllowed,
  parseSecretHosts,
  secretNamesIn,
} from '../../../src/domain/secret/secret-names.ts'

const SECRET = 's3cr"t\\vålue /+=&'
const VALUES = { run_id: 'r', job_run_id: 'j', scheduled_time: '', attempt: 1, payload: { trick: '{{secret:KEY}}' } }

/** Small, and the same on every run. */
function createRandom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * below)
  }
}

describe('names of secrets', () => {
  it('are found in every text of a value, each once', () => {
    const value = { headers: { a: 'Bearer {{secret:A}}' }, body: [{ b: '{{ secret:B-1 }}{{secret:A}}' }, 5, null] }
    expect(secretNamesIn(value)).toEqual(['A', 'B-1'])
    expect(secretNamesIn('{{payload.secret:A}} secret:A {secret:A}')).toEqual([])
  })

  it('are words that mean nothing in a path or a template', () => {
    for (const fine of ['A', 'openai_key', 'KEY-2', 'x'.repeat(100)]) expect(isSecretName(fine)).toBe(true)
    for (const wrong of ['', '1A', 'a.b', 'a b', 'a/b', 'é', '_a', 'x'.repeat(101)])
      expect(isSecretName(wrong)).toBe(false)
  })

  it('are filled in where they stand and never where a payload names them', () => {
    const values = { ...VALUES, secrets: { KEY: SECRET } }
    expect(fillText('k={{secret:KEY}};{{payload.trick}}', values, asText)).toBe(`k=${SECRET};{{secret:KEY}}`)
    expect(fillJson({ a: '{{secret:KEY}}', b: '{{payload.trick}}' }, values)).toEqual({
      a: SECRET,
      b: '{{secret:KEY}}',
    })
    expect(fillText('[{{secret:KEY}}]', VALUES, asText)).toBe('[]')
    expect(fillText('[{{secret:constructor}}]', { ...VALUES, secrets: {} }, asText)).toBe('[]')
  })

  it('are shown where they stand for a credential', () => {
    const shown = maskExecutor({
      headers: { authorization: 'Bearer {{secret:A}}', 'x-key': 'abc{{secret:A}}', b: 'c' },
    })
    expect(shown.headers).toEqual({ authorization: 'Bearer {{secret:A}}', 'x-key': '***', b: 'c' })
  })
})

describe('hosts of a secret', () => {
  it.each<[readonly string[], string, boolean]>([
    [['api.example.com'], 'https://api.example.com/v1', true],
    [['api.example.com'], 'http://API.example.com./v1', true],
    [['api.example.com'], 'https://api.example.com:8443/v1', false],
    [['api.example.com'], 'https://evil.api.example.com/', false],
    [['api.example.com'], 'https://api.example.com.evil.test/', false],
    [['api.example.com'], 'https://api.example.com@evil.test/', false],
    [['api.example.com:8443'], 'https://api.example.com:8443/', true],
    [['api.example.com:8443'], 'https://api.example.com/', false],
    [['api.example.com:443'], 'https://api.example.com/', true],
    [['api.example.com:443'], 'http://api.example.com/', false],
    [['127.0.0.1:9000'], 'http://127.0.0.1:9000/x', true],
    [['127.0.0.1:9000'], 'http://2130706433:9000/x', true],
    [['[::1]:9000'], 'http://[::1]:9000/x', true],
    [['a.test'], 'not an address', false],
  ])('%j let it go to %s: %s', (hosts, url, may) => {
    const read = parseSecretHosts('hosts', hosts)
    expect(read).toMatchObject({ ok: true })
    if (read.ok) expect(isHostAllowed(read.value, url)).toBe(may)
  })

  it.each<[unknown, string]>([
    ['a.test', 'hosts'],
    [[], 'hosts'],
    [[5], 'hosts.0'],
    [['*.example.com'], 'hosts.0'],
    [['ok.test', 'https://a.test'], 'hosts.1'],
    [['a.test/path'], 'hosts.0'],
    [['me@a.test'], 'hosts.0'],
    [['a.test:99999'], 'hosts.0'],
    [[''], 'hosts.0'],
    [Array.from({ length: 51 }, (_, index) => `h${index}.test`), 'hosts'],
  ])('cannot be %j', (given, field) => {
    const read = parseSecretHosts('hosts', given)
    expect(read.ok ? [] : read.flaws.map((flaw) => flaw.field)).toEqual([field])
  })
})

describe('a mask', () => {
  it('hides a value in every form in which it comes back', () => {
    const mask = createMask([SECRET])
    const forms = [
      ...[SECRET, JSON.stringify(SECRET).slice(1, -1), encodeURIComponent(SECRET)],
      ...[Buffer.from(SECRET).toString('base64'), Buffer.from(SECRET).toString('base64url')],
    ]
    for (const form of forms) expect(mask.text(`a ${form} b ${form}`)).toBe('a *** b ***')
    expect(mask.value({ [SECRET]: [SECRET, 5, null, { deep: `x${SECRET}` }] })).toEqual({
      '***': ['***', 5, null, { deep: 'x***' }],
    })
  })

  it('hides a value in Base64 behind and before something else', () => {
    for (const user of ['', 'u', 'us', 'use', 'user:', '\u0000user\u0000'])
      for (const after of ['', '!', '!!', '!!!']) {
        const said = Buffer.from(`${user}${SECRET}${after}`).toString('base64')
        const masked = createMask([SECRET]).text(said)
        expect(masked).toContain('***')
        expect(Buffer.from(masked.replaceAll('*', ''), 'base64').toString('latin1')).not.toContain('s3cr')
      }
  })

  it('leaves everything else as it is', () => {
    const said = { a: ['nothing here', 5, true, null], b: { c: 's3cr' } }
    expect(createMask([SECRET]).value(said)).toEqual(said)
    expect(createMask([]).value(said)).toBe(said)
    expect(createMask(['short']).text('short is too short to hide')).toBe('short is too short to hide')
  })

  it('hides the longer of two values first, and the lines of a certificate', () => {
    expect(createMask(['password', 'password-and-more']).text('password-and-more')).toBe('***')
    const key = '-----BEGIN KEY-----\nabcdefghijkl\nmnopqrstuvwx\n-----END KEY-----'
    expect(createMask([key]).text('line mnopqrstuvwx alone')).toBe('line *** alone')
  })

  it('hides a value however a stream cuts it, and loses nothing else', () => {
    const random = createRandom(7)
    for (let round = 0; round < 300; round += 1) {
      const words = Array.from(
        { length: 1 + random(6) },
        () => [SECRET, 'plain ', SECRET.slice(0, 5), 'é'][random(4)] ?? '',
      )
      const text = words.join('')
      const stream = createStreamMask([SECRET])
      let shown = ''
      for (let at = 0; at < text.length;) {
        const length = 1 + random(7)
        shown += stream.push(text.slice(at, at + length))
        expect(shown).not.toContain(SECRET)
        at += length
      }
      expect(shown + stream.end()).toBe(createMask([SECRET]).text(text))
    }
  })
})
