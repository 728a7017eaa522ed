import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RefusalCode } from '../../src/api/refusals.ts'
import type { ScheduleView } from '../../src/features/schedules/schema.ts'
import { createHttpWorld, pointersIn, problemIn, type HttpWorld } from './support.ts'

let world: HttpWorld
let victim: ScheduleView
beforeAll(async () => {
  world = await createHttpWorld()
  victim = (await world.ask('POST', URL, { body: { every_seconds: 60, payload: { kept: true } } })).json<ScheduleView>()
})
afterAll(() => world.close())

const URL = '/api/v1/schedules'
const MIB = 1_048_576

/** Whatever is sent, the schedule that was there is as it was, and no other has come. */
async function expectUntouched(): Promise<void> {
  expect((await world.ask('GET', `${URL}/${victim.id}`)).json()).toEqual(victim)
  expect((await world.ask('GET', URL)).json<{ items: unknown[] }>().items).toHaveLength(1)
  expect(world.logged).toEqual([])
}

const nested = (depth: number): string => `{"every_seconds":60,"payload":${'['.repeat(depth)}${']'.repeat(depth)}}`

describe('a body that is no JSON', () => {
  it.each<[string, string | Buffer, RefusalCode]>([
    ['half an object', '{"name":', 'MALFORMED'],
    ['a comment', '{"every_seconds": 60 // each minute\n}', 'MALFORMED'],
    ['bytes that are no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]), 'MALFORMED'],
    ['a raw NUL', '{"name":"a\u0000b"}', 'MALFORMED'],
    ['a text', '"hello"', 'VALIDATION'],
    ['null', 'null', 'VALIDATION'],
    ['a list', '[]', 'VALIDATION'],
    ['a number', '1', 'VALIDATION'],
    ['nothing', '', 'VALIDATION'],
    ['more than 1 MiB', JSON.stringify({ every_seconds: 60, description: 'x'.repeat(MIB) }), 'BODY_TOO_LARGE'],
    ['brackets without end', '['.repeat(150_000), 'MALFORMED'],
  ])('is refused: %s', async (_, raw, code) => {
    for (const [method, url] of [
      ['POST', URL],
      ['PATCH', `${URL}/${victim.id}`],
      ['POST', `${URL}/preview`],
      ['POST', `${URL}/bulk`],
    ] as const)
      problemIn(await world.ask(method, url, { raw, headers: { 'content-type': 'application/json' } }), code)
    await expectUntouched()
  })

  it.each(['TOPsecretValue', '{"key":"TOPsecretValue",}', '{"key":TOPsecretValue}', '"TOPsecretValue', '{"TOPsecret'])(
    'is told of without a character of it: %s',
    async (raw) => {
      const headers = { 'content-type': 'application/json' }
      for (const url of [URL, '/tasks', '/rpc', '/mcp']) {
        const { body } = await world.ask('POST', url, { raw, headers })
        expect(body, url).not.toMatch(/TOP|secret|Value/)
      }
    },
  )

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/xml', 'multipart/form-data', 'nonsense'])(
    'is refused as %s',
    async (type) => {
      const response = await world.ask('POST', URL, { raw: '{"every_seconds":60}', headers: { 'content-type': type } })
      problemIn(response, 'UNSUPPORTED_MEDIA_TYPE')
      await expectUntouched()
    },
  )

  it('is not asked for where it may be left out', async () => {
    const headers = { 'content-type': 'application/json' }
    const response = await world.ask('POST', `${URL}/${victim.id}/disable`, { headers })
    expect(response.statusCode).toBe(200)
    victim = (await world.ask('POST', `${URL}/${victim.id}/enable`)).json<ScheduleView>()
  })
})

describe('a body that cannot be kept', () => {
  it.each([
    ['NUL in a text', '{"every_seconds":60,"name":"a\\u0000b"}', ['/name']],
    ['NUL deep inside', '{"every_seconds":60,"payload":{"a":[1,{"b":"\\u0000"}]}}', ['/payload/a/1/b']],
    ['NUL in a name', '{"every_seconds":60,"payload":{"a\\u0000":1}}', ['/payload']],
    ['half of a surrogate pair', '{"every_seconds":60,"name":"\\ud83d"}', ['/name']],
    ['a number beyond all numbers', '{"every_seconds":60,"payload":{"n":1e999}}', ['/payload/n']],
    ['a huge negative number', '{"every_seconds":-1e999}', ['/every_seconds']],
    [
      'a number that is no whole number any more',
      '{"every_seconds":123456789012345678901234567890}',
      ['/every_seconds'],
    ],
    ['__proto__', '{"every_seconds":60,"__proto__":{"enabled":false}}', ['']],
    ['__proto__ inside', '{"every_seconds":60,"payload":{"__proto__":{}}}', ['/payload']],
    ['constructor as a field', '{"every_seconds":60,"constructor":1}', ['/constructor']],
    ['a text that is too long', JSON.stringify({ every_seconds: 60, name: 'x'.repeat(100_000) }), ['/name']],
  ])('is refused: %s', async (_, raw, pointers) => {
    const response = await world.ask('POST', URL, { raw })
    expect(pointersIn(response)).toEqual(pointers)
    expect(response.body.length).toBeLessThan(4_000)
    expect(pointersIn(await world.ask('PATCH', `${URL}/${victim.id}`, { raw }))).toEqual(pointers)
    await expectUntouched()
  })

  it.each([65, 1_000, 100_000])('is refused when nested %i deep', async (depth) => {
    const { errors } = problemIn(await world.ask('POST', URL, { raw: nested(depth) }), 'VALIDATION')
    expect(errors?.[0]).toMatchObject({ message: 'is nested too deeply', allowed: '64 levels' })
    await expectUntouched()
  })

  it('is kept as it is where it can be', async () => {
    const raw = `{"every_seconds":60,"payload":{"text":"\\ud83d\\ude00 \\\\u0000","deep":${'['.repeat(60)}${']'.repeat(60)}}}`
    const made = (await world.ask('POST', URL, { raw })).json<ScheduleView>()
    expect(made.payload).toMatchObject({ text: '😀 \\u0000' })
    await world.ask('DELETE', `${URL}/${made.id}`)
    await expectUntouched()
  })
})

describe('a body with very many fields', () => {
  const unknown = (count: number): string =>
    `{${Array.from({ length: count }, (_, index) => `"cro${index}":1`).join(',')}}`

  it('is refused before anything is made of it', async () => {
    for (const [raw, of, most] of [
      [unknown(60_000), 'fields', 20_000],
      [`{"payload":[${'7,'.repeat(300_000)}7]}`, 'values', 200_000],
    ] as const) {
      const { errors } = problemIn(await world.ask('POST', URL, { raw }), 'VALIDATION')
      expect(errors).toEqual([{ pointer: '', message: `the body has too many ${of}`, allowed: `up to ${most}` }])
    }
    await expectUntouched()
  })

  it('names the first of those that are unknown, and says how many more there are', async () => {
    for (const [method, url] of [
      ['POST', URL],
      ['POST', `${URL}/preview`],
      ['PATCH', '/api/v1/config'],
      ['POST', `${URL}/bulk`],
    ] as const) {
      const { errors = [] } = problemIn(
        await world.ask(method, url, { raw: unknown(19_000), as: url.endsWith('config') ? 'operator' : 'owner' }),
        'VALIDATION',
      )
      expect(errors.filter(({ pointer }) => pointer.startsWith('/cro'))).toHaveLength(20)
      expect(errors.map(({ message }) => message)).toContain('and 18980 more unknown fields')
    }
    await expectUntouched()
  })

  it('is taken where they are what is to be kept', async () => {
    const raw = `{"every_seconds":60,"payload":${unknown(19_000)}}`
    const made = (await world.ask('POST', URL, { raw })).json<ScheduleView>()
    expect(Object.keys(made.payload as object)).toHaveLength(19_000)
    await world.ask('DELETE', `${URL}/${made.id}`)
  })
})

describe('an address that is not as it should be', () => {
  it.each<[string, string, RefusalCode]>([
    ['NUL in an id', `${URL}/%00`, 'VALIDATION'],
    ['bytes that are no UTF-8', `${URL}/%ff`, 'MALFORMED'],
    ['half an escape', `${URL}/%e`, 'MALFORMED'],
    ['an id without end', `${URL}/${'x'.repeat(1_000)}`, 'VALIDATION'],
    ['an id with a slash in it', `${URL}/a%2Fb`, 'NOT_FOUND'],
    ['a part of the path that is far too long', `${URL}/${'x'.repeat(3_000)}`, 'URL_TOO_LONG'],
    ['a route that is not there', '/api/v1/nowhere', 'NOT_FOUND'],
    ['dots', '/api/v1/../../etc/passwd', 'NOT_FOUND'],
    ['a slash at the end', `${URL}/`, 'VALIDATION'],
  ])('is refused: %s', async (_, url, code) => {
    problemIn(await world.ask('GET', url), code)
    await expectUntouched()
  })
})
