import { describe, expect, it } from 'vitest'
import { parseHttpOptions } from '../../../src/executors/http/options.ts'
import { parseSuccessWhen, unmetCondition, isExpectedStatus } from '../../../src/executors/success-when.ts'

const URL = 'https://agents.example/work'
const read = (given: Readonly<Record<string, unknown>>) =>
  parseHttpOptions('executor', { kind: 'http', url: URL, ...given })
const fieldsOf = (given: Readonly<Record<string, unknown>>): readonly string[] => {
  const result = read(given)
  return result.ok ? [] : result.flaws.map(({ field }) => field)
}

describe('how an agent is called', () => {
  it('has defaults', () => {
    expect(read({})).toEqual({
      ok: true,
      value: {
        ...{ kind: 'http', url: URL, method: 'POST', headers: {}, body: null },
        async: false,
        success_when: null,
      },
    })
    expect(read({ method: null, headers: null, body: null, async: null, success_when: null })).toEqual(read({}))
  })

  it('keeps what is said', () => {
    const said = {
      ...{ method: 'put', headers: { 'X-Run': '{{run_id}}' }, body: { a: '{{payload.x}}' }, async: true },
      success_when: { path: 'ok', equals: true },
    }
    expect(read(said)).toMatchObject({ ok: true, value: { ...said, method: 'PUT' } })
  })

  it.each<[string, Readonly<Record<string, unknown>>, readonly string[]]>([
    ['no address', { url: undefined }, ['executor.url']],
    ['an address that is none', { url: 'agents.example' }, ['executor.url']],
    ['another scheme', { url: 'ftp://agents.example/' }, ['executor.url']],
    ['a password', { url: 'https://me:secret@agents.example/' }, ['executor.url']],
    ['a number', { url: 5 }, ['executor.url']],
    ['a template for the host', { url: 'https://{{payload.h}}/' }, ['executor.url']],
    ['a secret in the path', { url: `${URL}/{{secret:K}}` }, ['executor.url']],
    ['a method nobody can use', { method: 'CONNECT' }, ['executor.method']],
    ['a misspelt field', { header: {} }, ['executor.header']],
    ['a field of nobody', { nonsense: 1 }, ['executor.nonsense']],
    ['headers that are no object', { headers: ['a'] }, ['executor.headers']],
    ['a header with a line break', { headers: { a: 'b\r\nc: d' } }, ['executor.headers.a']],
    ['a header that is no name', { headers: { 'a b': 'c' } }, ['executor.headers.a b']],
    ['a header that is a number', { headers: { a: 1 } }, ['executor.headers.a']],
    ['Host', { headers: { Host: 'x' } }, ['executor.headers.Host']],
    ['Idempotency-Key', { headers: { 'Idempotency-Key': 'x' } }, ['executor.headers.Idempotency-Key']],
    ['Transfer-Encoding', { headers: { 'transfer-encoding': 'x' } }, ['executor.headers.transfer-encoding']],
    ['a header twice', { headers: { a: '1', A: '2' } }, ['executor.headers']],
    ['no secret in a header', { headers: { a: 'Bearer {{secret:a.b}}' } }, ['executor.headers.a']],
    ['no secret in the body', { body: { a: ['{{secret:}}'] } }, ['executor.body']],
    ['a body with GET', { method: 'GET', body: {} }, ['executor.body']],
    ['a large body', { body: 'x'.repeat(70_000) }, ['executor.body']],
    ['async that is a word', { async: 'yes' }, ['executor.async']],
    ['a condition that says nothing', { success_when: {} }, ['executor.success_when']],
    ['several at once', { url: 1, method: 2, async: 3 }, ['executor.method', 'executor.url', 'executor.async']],
  ])('is refused with %s', (_, given, fields) => {
    expect(fieldsOf(given)).toEqual(fields)
  })

  it('says what was probably meant, and no secret', () => {
    expect(JSON.stringify(read({ header: {} }))).toContain('did you mean headers?')
    expect(JSON.stringify(read({ url: 'https://me:hunter2@agents.example/' }))).not.toContain('hunter2')
    expect(JSON.stringify(read({ headers: { authorization: 'hunter2\n' } }))).not.toContain('hunter2')
    expect(JSON.stringify(read({ url: `${URL}/{{secret:K}}` }))).toContain('must not reference a secret')
  })
})

describe('success_when', () => {
  it.each<[unknown, Parameters<typeof unmetCondition>[1], boolean]>([
    [{ ok: true }, { path: 'ok', equals: true }, true],
    [{ ok: false }, { path: 'ok', equals: true }, false],
    [{}, { path: 'ok', equals: true }, false],
    [{ a: { b: [{ c: 'x' }] } }, { path: 'a.b.0.c', equals: 'x' }, true],
    [{ a: { b: [{ c: 'x' }] } }, { path: '/a/b/0/c', equals: 'x' }, true],
    [{ 'a.b': { 'c/d': 1 } }, { path: '/a.b/c~1d', equals: 1 }, true],
    [{ a: 1 }, { path: '/b', equals: 1 }, false],
    [{ '': 1 }, { path: '/', equals: 1 }, true],
    [{ a: 1 }, { path: '', equals: { a: 1 } }, true],
    [{ a: [1, { b: 2, c: 3 }] }, { path: 'a', equals: [1, { c: 3, b: 2 }] }, true],
    [{ a: [1] }, { path: 'a', equals: { 0: 1 } }, false],
    ['all done', { contains: 'done' }, true],
    ['not yet', { contains: 'done' }, false],
    [['a', { b: 1 }], { contains: { b: 1 } }, true],
    [5, { contains: 5 }, false],
    [{ a: 0 }, { path: 'a', exists: true }, true],
    [{ a: null }, { path: 'a', exists: true }, false],
    [{}, { path: 'error', exists: false }, true],
    [{ error: 'x' }, { path: 'error', exists: false }, false],
    [{}, { path: 'constructor', exists: true }, false],
    [null, { path: 'a.b', equals: null }, false],
    [{ a: null }, { path: 'a', equals: null }, true],
  ])('%j with %j: %s', (body, when, holds) => {
    expect(unmetCondition(body, when) === null).toBe(holds)
  })

  it('counts statuses', () => {
    expect([200, 204, 299, 199, 304, 404].map((status) => isExpectedStatus(status, null))).toEqual([
      ...[true, true, true, false, false, false],
    ])
    expect([200, 404].map((status) => isExpectedStatus(status, { status: [404] }))).toEqual([false, true])
  })

  it.each([
    [[], ['w']],
    ['yes', ['w']],
    [{ sttus: [200] }, ['w.sttus']],
    [{ status: 200 }, ['w.status']],
    [{ status: [99] }, ['w.status']],
    [{ path: 'a' }, ['w.path']],
    [{ path: 5, equals: 1 }, ['w.path']],
    [{ exists: 'yes' }, ['w.exists']],
    [{ path: '/a~2', equals: 1 }, ['w.path']],
    [{ path: '$.state', equals: 1 }, ['w.path']],
    [{ path: 'items[0].state', equals: 1 }, ['w.path']],
    [{ path: '.state', equals: 1 }, ['w.path']],
    [{ path: 'a..b', equals: 1 }, ['w.path']],
    [{ path: 'a.', equals: 1 }, ['w.path']],
    [{ path: '/a', equals: 1, exists: false }, ['w.exists']],
  ])('%j is refused', (given, fields) => {
    const result = parseSuccessWhen('w', given)
    expect(result.ok ? [] : result.flaws.map(({ field }) => field)).toEqual(fields)
  })
})
