import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readYaml, writeYaml } from '../../../src/platform/yaml/yaml.ts'

const again = (text: string): unknown => {
  const read = readYaml([{ name: 'again.yaml', text }])
  return read.ok ? read.value : read.flaws
}

/** Texts that have led writers of YAML astray. */
const AWKWARD = [
  ...[
    '',
    ' ',
    '\n',
    '\n\n',
    ' a',
    'a ',
    'a\n',
    'a\n\n',
    '\na',
    ' a\nb',
    'a\n b\n',
    'a \nb',
    'a\t',
    '\ta\nb',
    'a\r\nb',
    '\r',
  ],
  ...['yes', 'No', 'on', 'null', '~', 'true', '1', '0x1f', '1e3', '012', '1_000', '.5', '2026-11-15', '12:30:45'],
  ...[
    '- a',
    'a: b',
    'a #b',
    '#a',
    '*a',
    '&a',
    '!a',
    '%a',
    '@a',
    '`a',
    '{a',
    '[a',
    "'a",
    '"a',
    '|',
    '>',
    '---',
    '...',
    '<<',
    '=',
  ],
  ...[
    '*/5 * * * *',
    '0 9 * * 1-5',
    'R5',
    '你好\n世界',
    '\u0000',
    '\u0007',
    '\u0085',
    '\u2028',
    '\ufeff',
    '\ud83d\ude00',
    '__proto__',
  ],
]

const text = fc.oneof(fc.constantFrom(...AWKWARD), fc.string({ unit: 'grapheme', maxLength: 12 }))
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    text,
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((one) => (Object.is(one, -0) ? 0 : one)),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(text, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
}))

describe('a document that is written', () => {
  it('reads as people would have written it', () => {
    const document = {
      version: 1,
      agents: [{ name: 'writer', executor: { kind: 'echo' } }],
      schedules: [
        { name: 'Look', cron: '*/5 * * * *', payload: { prompt: 'Look at the inbox.\nSay what is new.\n' } },
        { name: 'yes', at: '2026-12-24T18:00:00Z', exclude: ['2026-12-25'] },
      ],
      targets: [],
    }
    expect(writeYaml(document, { comment: ['yaml-language-server: $schema=x'] }))
      .toBe(`# yaml-language-server: $schema=x
version: 1

agents:
  - name: writer
    executor:
      kind: echo

schedules:
  - name: Look
    cron: "*/5 * * * *"
    payload:
      prompt: |
        Look at the inbox.
        Say what is new.

  - name: "yes"
    at: "2026-12-24T18:00:00Z"
    exclude:
      - "2026-12-25"

targets: []
`)
  })

  it('reads as exactly the same again', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.stringMatching(/^[a-z]{1,3}$/), value, { maxKeys: 4, noNullPrototype: true }),
        (document) => {
          expect(again(writeYaml(document))).toEqual(document)
        },
      ),
      {
        numRuns: 100,
        examples: [
          [{ all: AWKWARD, inside: { all: [AWKWARD.map((one) => ({ one }))] } }],
          [{ '\ufeff': '\ufeff', '\ufeffa': { '\ufeff': ['\ufeff\n\ufeff'] } }],
        ],
      },
    )
  })
})
