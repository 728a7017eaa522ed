import { describe, expect, it } from 'vitest'
import { positionText, readYaml, type ReadYaml } from '../../../src/platform/yaml/yaml.ts'

/** The files by the letters of the alphabet. */
const named = (texts: readonly string[]): readonly { readonly name: string; readonly text: string }[] =>
  texts.map((text, index) => ({ name: `${'abc'[index] ?? 'z'}.yaml`, text }))

function readGood(...texts: readonly string[]): ReadYaml {
  const read = readYaml(named(texts))
  if (!read.ok) throw new Error(JSON.stringify(read.flaws))
  return read
}

function flawsIn(...texts: readonly string[]): readonly string[] {
  const read = readYaml(named(texts))
  return read.ok ? [] : read.flaws.map((flaw) => `${positionText(flaw)} ${flaw.message}`)
}

const whereIs = ({ positionOf: placeOf }: ReadYaml, pointer: string): string | null => {
  const place = placeOf(pointer)
  return place === null ? null : positionText(place)
}

const NIGHTLY = `# Comments stay with people.
version: 1
schedules:
  - name: Nightly
    cron: "0 2 * * *"
    exclude:
      - 2026-12-24
      - { from: 2026-12-30, to: 2027-01-02 }
  - name: Hourly
    crom: 0 * * * *
`

describe('a file with too much in it', () => {
  it('is refused before it is parsed', () => {
    expect(flawsIn(']'.repeat(500_000))).toEqual(['a.yaml:1:1 the file has more than 150000 tokens'])
    expect(flawsIn(`a: &a x\nb:\n${'- *a\n'.repeat(1_001)}`)).toEqual([
      'a.yaml:1:1 the file has more than 1000 aliases',
    ])
  })

  it.each([
    ['brackets', '['.repeat(101)],
    ['dashes in one line', '- '.repeat(101)],
    ['questions in one line', '? '.repeat(101)],
    ['indentation', Array.from({ length: 101 }, (_, level) => `${' '.repeat(level)}a:\n`).join('')],
    [
      'all of them',
      `${Array.from({ length: 60 }, (_, level) => `${' '.repeat(level)}a:\n`).join('')}${' '.repeat(60)}- ${'['.repeat(50)}`,
    ],
  ])('is refused when it is nested too deeply: %s', (_, text) => {
    expect(flawsIn(text)).toEqual(['a.yaml:1:1 the file is nested deeper than 100 levels'])
  })

  it('is taken as long as it is long and not deep', () => {
    const lists = `a:\n${'  - - 1\n    - { b: [x] }\n'.repeat(500)}c: "${'['.repeat(500)}"\nd: |\n${'  - - [\n'.repeat(500)}`
    expect(readYaml(named([lists])).ok).toBe(true)
  })

  it('has its first mistakes told, and how many more there are', () => {
    const flaws = flawsIn(`a: 1\n${'a: 1\n'.repeat(75)}`)
    expect(flaws).toHaveLength(51)
    expect(flaws.slice(-2)).toEqual(['a.yaml:51:1 duplicate name "a"', 'a.yaml:52:1 more errors follow (25 not shown)'])
  })
})

describe('a file', () => {
  it('says what it says, in the words of JSON', () => {
    expect(readGood(NIGHTLY).value).toEqual({
      version: 1,
      schedules: [
        { name: 'Nightly', cron: '0 2 * * *', exclude: ['2026-12-24', { from: '2026-12-30', to: '2027-01-02' }] },
        { name: 'Hourly', crom: '0 * * * *' },
      ],
    })
  })

  it('may bring in more than one map', () => {
    const text = 'a: &a { x: 1 }\nb: &b { y: 2 }\nc:\n  <<: *a\n  <<: *b\n'
    expect(readGood(text).value).toMatchObject({ c: { x: 1, y: 2 } })
  })

  it.each([
    ['', 'a.yaml:2:1'],
    ['/version', 'a.yaml:2:1'],
    ['/schedules', 'a.yaml:3:1'],
    ['/schedules/0', 'a.yaml:4:5'],
    ['/schedules/0/exclude/1/to', 'a.yaml:8:29'],
    ['/schedules/1/crom', 'a.yaml:10:5'],
    // What is not there stands, as far as anybody can tell, at what it is lacking from.
    ['/schedules/1/timezone', 'a.yaml:9:5'],
    ['/targets', 'a.yaml:2:1'],
  ])('has %j at %s', (pointer, place) => {
    expect(whereIs(readGood(NIGHTLY), pointer)).toBe(place)
  })

  it('may have anchors and merged fields, whose place is that of the anchor or of the item', () => {
    const read = readGood(`schedules:
  - &daily { name: A, retry_policy: { max_retries: 3 } }
  - <<: *daily
    name: B
    retry_policy: &policy { max_retries: many }
  - { name: C, retry_policy: *policy }
`)
    expect(read.value['schedules']).toEqual([
      { name: 'A', retry_policy: { max_retries: 3 } },
      { name: 'B', retry_policy: { max_retries: 'many' } },
      { name: 'C', retry_policy: { max_retries: 'many' } },
    ])
    expect(whereIs(read, '/schedules/2/retry_policy/max_retries')).toBe('a.yaml:5:29')
  })

  it('may be JSON', () => {
    expect(readGood('{"version": 1, "agents": [{"name": "a/b", "executor": {"kind": "echo"}}]}').value).toEqual({
      version: 1,
      agents: [{ name: 'a/b', executor: { kind: 'echo' } }],
    })
  })

  it.each(['', '# nothing\n', '---\n---\n'])('may be empty: %j', (text) => {
    expect(readGood(text).value).toEqual({})
  })
})

describe('several files, and several documents in one', () => {
  const read = (): ReadYaml =>
    readGood(
      'version: 1\nschedules: [{ name: A }]\n---\nschedules:\n  - name: B\n',
      'version: 1\nagents: [{ name: x }]\nschedules:\n  - name: C\n    crom: 1\n',
    )

  it('are joined list by list, in their order', () => {
    expect(read().value).toEqual({
      version: 1,
      schedules: [{ name: 'A' }, { name: 'B' }, { name: 'C', crom: 1 }],
      agents: [{ name: 'x' }],
    })
  })

  it('keep their places', () => {
    const places = ['/schedules/0/name', '/schedules/1/name', '/schedules/2/crom', '/agents/0/name']
    expect(places.map((pointer) => whereIs(read(), pointer))).toEqual([
      'a.yaml:2:15',
      'a.yaml:5:5',
      'b.yaml:5:5',
      'b.yaml:2:12',
    ])
  })

  it('may have a name with nothing behind it', () => {
    const read = readGood('schedules:\nagents: [{ name: x }]', 'agents:\nschedules: [{ name: A }]')
    expect(read.value).toEqual({ schedules: [{ name: 'A' }], agents: [{ name: 'x' }] })
    expect(whereIs(read, '/schedules/0')).toBe('b.yaml:2:13')
  })

  it('may not contradict each other', () => {
    expect(flawsIn('version: 1', 'a: 1\nversion: 2')).toEqual([
      'b.yaml:2:1 "version" was already set to a different value',
    ])
    expect(flawsIn('agents: []', 'agents: {}')).toEqual(['b.yaml:1:1 "agents" was already set to a different value'])
  })
})

describe('a file that cannot be read', () => {
  it.each([
    ['a tab for indentation', 'schedules:\n\t- name: A', 'a.yaml:2:1 tabs are not allowed as indentation'],
    ['a name twice', 'a: 1\nb: 2\na: 3', 'a.yaml:3:1 duplicate name "a"'],
    ['what is not closed', 'a: "x', 'a.yaml:1:6 missing closing "quote'],
    ['a wrong indentation', 'agents:\n  - name: x\n   cron: y', 'a.yaml:3:1 '],
    ['an alias without an anchor', 'a: *b', 'a.yaml:1:1 unresolved alias'],
    ['an alias inside of its anchor', 'a: &b [[*b]]', 'a.yaml:1:9 "*b" refers to a value that contains it'],
    ['a list at the top', '- a', 'a.yaml:1:1 must contain lists such as "schedules:"'],
    ['a tag of somebody else', 'a: !secret x', 'a.yaml:1:4 unresolved tag: !secret'],
    ['a number without digits', 'a:\n  b: .inf', 'a.yaml:2:6 must be a finite number'],
    ['a name that is a list', '? [a]\n: b', 'a.yaml:1:3 a name must be a string'],
    ['a second document that is broken', 'a: 1\n---\nb: [', 'a.yaml:3:5 '],
  ])('has %s, and says where', (_, text, flaw) => {
    expect(flawsIn(text)[0]?.slice(0, flaw.length)).toBe(flaw)
  })

  it('may not grow while it is read', () => {
    const wide = ['a: &a [x, x, x, x, x, x, x, x, x]']
    for (const name of 'bcdefgh') {
      const before = String.fromCharCode(name.charCodeAt(0) - 1)
      wide.push(`${name}: &${name} [${Array.from({ length: 9 }, () => `*${before}`).join(', ')}]`)
    }
    expect(flawsIn(wide.join('\n'))[0]).toContain('alias')
  })

  it('says everything that is wrong, in all files', () => {
    expect(flawsIn('a: 1\na: 2', '- x')).toHaveLength(2)
  })
})
