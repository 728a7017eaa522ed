import { describe, expect, it } from 'vitest'
import { executorInput } from '../../../src/executors/schema.ts'
import { readShape } from '../../../src/api/read-input.ts'
import { EXECUTORS } from '../../../src/executors/kinds.ts'

const closed = EXECUTORS.filter(({ takesAny }) => takesAny !== true)

describe('the table of the options of a kind', () => {
  it.each(closed.map((spec) => [spec.kind, spec] as const))('of %s is what its parser knows', (kind, spec) => {
    const read = spec.parse('executor', { kind, nonsense: 1 })
    const flaw = read.ok ? undefined : read.flaws.find(({ field }) => field === 'executor.nonsense')
    const names = ['kind', ...spec.console.fields.map(({ name }) => name)]
    expect(flaw?.allowed?.split(', ').toSorted()).toEqual(names.toSorted())
  })
})

describe('an executor as it is sent', () => {
  it.each<[string, object, readonly string[]]>([
    ['a kind in any case', { kind: 'HTTP', url: 'https://a.example/', method: 'put' }, []],
    ['null for what is left out', { kind: 'chat', base_url: 'https://a.example/v1', model: 'm', prices: null }, []],
    ['a hidden header', { kind: 'http', url: 'https://a.example/', headers: { 'x-key': '***' } }, []],
    ['options of any name where nothing reads them', { kind: 'Echo', note: { a: 1 } }, []],
    ['no kind', { url: 'https://a.example/' }, ['executor.kind']],
    ['a kind that is none', { kind: 'magic' }, ['executor.kind']],
    ['a hidden variable', { kind: 'command', program: '/bin/date', env: { KEY: '***' } }, ['executor.env.KEY']],
    ['an option of another kind', { kind: 'worker', url: 'https://a.example/' }, ['executor.url']],
    ['what no row can hold', { kind: 'echo', note: 'a\u0000' }, ['executor']],
  ])('with %s', (_, given, fields) => {
    const read = readShape(executorInput, given, 'executor')
    expect(read.ok ? [] : read.flaws.map(({ field }) => field)).toEqual(fields)
  })
})
