import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hasMeaningfulContent } from '../../../src/domain/heartbeat/heartbeat.ts'
import { cpuMs } from '../../support/cpu-time.ts'

describe('a checklist with nothing to check', () => {
  it.each([
    ['is empty', ''],
    ['is blank', ' \n\t\n\r\n'],
    ['has invisible characters', '\ufeff\u200b\n\u2060'],
    ['has headings', '# Heartbeat\n## Morning\n###### x\n#'],
    ['has a heading underlined', 'Heartbeat\n=========\n'],
    ['has empty items', '-\n*\n+ \n1.\n2)\n  - '],
    ['has empty boxes', '- [ ]\n- [x]\n* [X]\n- []\n1. [ ]\n[ ]'],
    ['has nested empty items', '- - [ ]\n> - [ ]\n>\n> >'],
    ['has a heading in an item', '- # Heading'],
    ['has a comment', '<!-- check the mail -->'],
    ['has a comment over lines', '<!-- check\nthe mail\n-->\n# x'],
    ['has comments in a line', '<!-- a --> <!-- b -->\n- [ ] <!-- later -->'],
    ['has a comment that is not closed', '# x\n<!-- check the mail\n- and the disk'],
    ['has a fence in a comment', '<!--\n```\ncode\n```\n-->'],
    ['has bare fences', '```\n```\n~~~\n\n~~~\n```yaml\n\n```'],
    ['has a fence that is not closed', '```sh\n\n'],
    ['has a bare fence in an item', '- ```\n  ```'],
    ['has rules', '---\n***\n_ _ _\n- - -'],
    ['is a template: headings, empty boxes and comments', '# Every hour\n\n- [ ]\n<!-- add what matters -->\n- [ ]\n'],
  ])('%s', (_, text) => {
    expect(hasMeaningfulContent(text)).toBe(false)
    expect(hasMeaningfulContent(text.replaceAll('\n', '\r\n'))).toBe(false)
  })
})

describe('a checklist with something to check', () => {
  it.each([
    ['is a sentence', 'Look at the inbox'],
    ['has an item', '# x\n- look at the inbox'],
    ['has a box with text', '- [ ] disk below 90 %'],
    ['has a ticked box with text', '- [x] disk below 90 %'],
    ['has text before a comment', 'disk <!-- which one? -->'],
    ['has text after a comment', '<!-- a\nb --> disk'],
    ['has text between comments', '<!-- a --> disk <!-- b -->'],
    ['has text in a fence', '```\nGET /health\n```'],
    ['has a heading in a fence', '```\n# not a heading\n```'],
    ['has a comment in a fence', '```\n<!-- shown -->\n```'],
    ['has a shorter fence in a fence', '````\n```\n````'],
    ['has text after a fence', '```\n```\ndisk'],
    ['has code in a line', '```df -h```'],
    ['has a hash without space', '#todo'],
    ['has a number with a point', '1.5 GB must be free'],
    ['has text above a rule', 'disk\n---'],
    ['is in Chinese', '- 检查收件箱'],
    ['is an emoji', '📬'],
    ['has a quotation', '> disk'],
    ['has an underline in a fence', '```\nx\n===\n```'],
  ])('%s', (_, text) => {
    expect(hasMeaningfulContent(text)).toBe(true)
    expect(hasMeaningfulContent(text.replaceAll('\n', '\r\n'))).toBe(true)
  })
})

describe('noise around a checklist', () => {
  const noise = fc.constantFrom(
    '',
    '  ',
    '# Heading',
    '- [ ]',
    '- ',
    '1.',
    '<!-- a -->',
    '<!--\na\n\n-->',
    '```\n```',
    '---',
  )
  const content = fc.constantFrom('look at the inbox', '- [ ] disk', '```\ncode\n```', '> quote', '1. one')

  it('never makes something out of nothing', () => {
    fc.assert(
      fc.property(fc.array(noise), (lines) => {
        expect(hasMeaningfulContent(lines.join('\n'))).toBe(false)
      }),
      { seed: 11 },
    )
  })

  it('never hides what there is', () => {
    fc.assert(
      fc.property(fc.array(noise), content, fc.array(noise), (before, text, after) => {
        expect(hasMeaningfulContent([...before, text, ...after].join('\n'))).toBe(true)
      }),
      { seed: 12 },
    )
  })
})

describe('a checklist of a megabyte', () => {
  const mega = (piece: string): string => piece.repeat(Math.ceil(1_000_000 / piece.length))

  it.each(['- ', '> ', '`', '<!--', '<!-- -->', ' ', '\n', '- [ ]\n', '=', '* *\t', '[ ] ', '~', '#', '-- ->', '1. '])(
    'of %j is read in no time',
    (piece) => {
      const started = cpuMs()
      hasMeaningfulContent(`${mega(piece)}\n- `)
      expect(cpuMs() - started).toBeLessThan(1_000)
    },
  )
})
