import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decideHeartbeatReply, type HeartbeatReplyFacts } from '../../../src/domain/heartbeat/heartbeat-reply.ts'
import { DAY_MS, HOUR_MS, instant, MINUTE_MS } from '../../../src/domain/instant.ts'
import { expectExplained } from '../../support/why.ts'
import { cpuMs } from '../../support/cpu-time.ts'

const noon = instant(Date.parse('2026-01-15T12:00:00Z'))

function theFacts(overrides: Partial<HeartbeatReplyFacts> = {}): HeartbeatReplyFacts {
  return { ackMaxChars: 300, target: 'telegram:42', lastDelivered: null, now: noon, ...overrides }
}

/** What the user would see, or the reason why nothing. */
function outcomeOf(reply: string, overrides: Partial<HeartbeatReplyFacts> = {}): string {
  const decision = decideHeartbeatReply(reply, theFacts(overrides))
  expectExplained(decision.why)
  return decision.kind === 'deliver' ? decision.content : `(${decision.why.reason})`
}

const long = 'the disk is full'
const little = { ackMaxChars: 5 }

describe('an acknowledgement', () => {
  it.each([
    'HEARTBEAT_OK',
    '  HEARTBEAT_OK\n',
    '**HEARTBEAT_OK**.',
    '`HEARTBEAT_OK`',
    '*HEARTBEAT_OK*',
    '_HEARTBEAT_OK_',
    '__HEARTBEAT_OK__',
    '~~HEARTBEAT_OK~~',
    '<b>HEARTBEAT_OK</b>',
    '<B>HEARTBEAT_OK</B >',
    '<strong><i>HEARTBEAT_OK</i></strong>!',
    '<code>HEARTBEAT_OK</code>',
    '**`HEARTBEAT_OK`**',
    '**_`HEARTBEAT_OK`_**.',
    '***HEARTBEAT_OK***',
    '~~**<b>`HEARTBEAT_OK`</b>**~~ …',
    '```\nHEARTBEAT_OK\n```',
    '```text\nHEARTBEAT_OK\n```\n',
    '```HEARTBEAT_OK```',
    '~~~\n**HEARTBEAT_OK**\n~~~',
    'HEARTBEAT_OK!!!',
    'HEARTBEAT_OK ...',
    '**HEARTBEAT_OK.**',
    'HEARTBEAT_OK。',
    '"HEARTBEAT_OK"',
    '(HEARTBEAT_OK)',
    '- HEARTBEAT_OK',
    '# HEARTBEAT_OK',
    '\u200bHEARTBEAT_OK\ufeff',
    '**HEARTBEAT_OK*',
    'HEARTBEAT_OK HEARTBEAT_OK\nHEARTBEAT_OK.',
  ])('is %j, whatever its dress', (reply) => {
    expect(outcomeOf(reply)).toBe('(acknowledged)')
  })

  it('needs no room for other text when it is alone', () => {
    for (const reply of ['**HEARTBEAT_OK**.', '```text\nHEARTBEAT_OK\n```', '"HEARTBEAT_OK"', '**HEARTBEAT_OK*'])
      expect(outcomeOf(reply, { ackMaxChars: 0 })).toBe('(acknowledged)')
  })

  it.each([
    '<b>HEARTBEAT_OK</b> all quiet',
    'HEARTBEAT_OK - nothing new in the inbox.',
    'HEARTBEAT_OK: all quiet',
    'HEARTBEAT_OK.All quiet',
    'All quiet. HEARTBEAT_OK',
    'All quiet — **HEARTBEAT_OK**.',
    'All quiet (HEARTBEAT_OK).',
    'HEARTBEAT_OK\n\nAll quiet\n\nHEARTBEAT_OK',
    '✅ HEARTBEAT_OK',
    '✔️HEARTBEAT_OK',
    'HEARTBEAT_OK👍',
    'HEARTBEAT_OK一切正常',
    '一切正常HEARTBEAT_OK',
    '**HEARTBEAT_OK all quiet**',
  ])('may have a little to say beside it: %j', (reply) => {
    expect(outcomeOf(reply)).toBe('(acknowledged)')
  })

  it('reports how much else was said, in characters as people count them', () => {
    expect(decideHeartbeatReply('HEARTBEAT_OK 📬 ok', theFacts()).why.evidence).toMatchObject({ other_chars: 4 })
  })
})

describe('a token with much to say beside it', () => {
  it.each(['x', 'é', '好', '📬'])('may say 300 times %s and not once more', (letter) => {
    expect(outcomeOf(`HEARTBEAT_OK  ${letter.repeat(300)} \n`)).toBe('(acknowledged)')
    expect(outcomeOf(`HEARTBEAT_OK  ${letter.repeat(301)} \n`)).toBe(letter.repeat(301))
  })

  it.each([
    [`HEARTBEAT_OK ${long}`, long],
    [`${long} HEARTBEAT_OK`, long],
    [`**HEARTBEAT_OK**. ${long}`, long],
    [`**HEARTBEAT_OK.** ${long}`, long],
    [`HEARTBEAT_OK — ${long}`, long],
    [`${long} — HEARTBEAT_OK`, long],
    [`${long}\n- HEARTBEAT_OK`, long],
    [`${long}. HEARTBEAT_OK!`, `${long}.`],
    [`${long} (HEARTBEAT_OK).`, long],
    [`(${long} HEARTBEAT_OK)`, `(${long})`],
    [`HEARTBEAT_OK\n${long}\nHEARTBEAT_OK`, long],
    [`**HEARTBEAT_OK: ${long}**`, `**${long}**`],
    [`**${long} HEARTBEAT_OK**`, `**${long}**`],
    [`HEARTBEAT_OK **Disk** ${long}`, `**Disk** ${long}`],
    [`HEARTBEAT_OK\n- ${long}\n- more`, `- ${long}\n- more`],
    [`* HEARTBEAT_OK\n* ${long}`, `* ${long}`],
    [`HEARTBEAT_OK -5 degrees ${long}`, `-5 degrees ${long}`],
    [`\`\`\`\nHEARTBEAT_OK\n\`\`\`\n${long}`, long],
    [`\`\`\`text\nHEARTBEAT_OK\n${long}\n\`\`\``, `\`\`\`text\n${long}\n\`\`\``],
    [`${long}\n\`\`\`text\nHEARTBEAT_OK\n\`\`\``, long],
    [`\`\`\`\n${long}\nHEARTBEAT_OK\n\`\`\``, `\`\`\`\n${long}\n\`\`\``],
    [`<b><i>HEARTBEAT_OK</i></b> <b>${long}</b>`, `<b>${long}</b>`],
    [`${long} <b>HEARTBEAT_OK</b>`, long],
    [`**_HEARTBEAT_OK_ ${long}**`, `**${long}**`],
  ])('is delivered without the token: %j', (reply, expected) => {
    expect(outcomeOf(reply, little)).toBe(expected)
  })
})

describe('a reply that only mentions the token', () => {
  it.each([
    'I cannot answer HEARTBEAT_OK because the disk is full.',
    'The script printed HEARTBEAT_OK, but the disk is full',
    'HEARTBEAT_OKAY then',
    'MY_HEARTBEAT_OK',
    'it set HEARTBEAT_OK_2',
    'HEARTBEAT_OK_LATER',
    'X-HEARTBEAT_OK',
    'HEARTBEAT_OK-ish, the disk is nearly full',
    "HEARTBEAT_OK's check failed",
    'STATUS=HEARTBEAT_OK',
    'éHEARTBEAT_OK',
    '𝐀HEARTBEAT_OK',
    'heartbeat_ok',
    'HEARTBEAT OK',
    'HEARTBEAT_ OK',
    '"HEARTBEAT_OK" would be wrong: the disk is full',
    '  the disk is full\n',
    '**',
  ])('is delivered unchanged: %j', (reply) => {
    expect(outcomeOf(reply)).toBe(reply)
  })
})

describe('an empty reply', () => {
  it.each(['', '  \n', '\u200b\ufeff'])('%j is not delivered', (reply) => {
    expect(outcomeOf(reply)).toBe('(empty_reply)')
  })
})

describe('the same alert again', () => {
  const disk = { content: 'The disk is full', at: noon }
  const after = (ms: number) => instant(noon + ms)

  it('is suppressed after 23 h 59 min', () => {
    const now = after(23 * HOUR_MS + 59 * MINUTE_MS)
    expect(outcomeOf('The disk is full\n', { lastDelivered: disk, now })).toBe('(duplicate)')
  })

  it('is sent after exactly 24 h', () => {
    expect(outcomeOf('The disk is full', { lastDelivered: disk, now: after(DAY_MS) })).toBe('The disk is full')
  })

  it('is sent when another came between: A, B, A are three', () => {
    let lastDelivered: HeartbeatReplyFacts['lastDelivered'] = null
    const sent = ['A', 'B', 'A', 'A'].filter((content, index) => {
      const now = after(index * MINUTE_MS)
      const decision = decideHeartbeatReply(content, theFacts({ lastDelivered, now }))
      if (decision.kind === 'deliver') lastDelivered = { content: decision.content, at: now }
      return decision.kind === 'deliver'
    })
    expect(sent).toEqual(['A', 'B', 'A'])
  })

  it('is sent when the first never arrived', () => {
    expect(outcomeOf('The disk is full', { lastDelivered: null })).toBe('The disk is full')
  })

  it('is recognised without the token that came with it', () => {
    const lastDelivered = { content: long, at: noon }
    expect(outcomeOf(`HEARTBEAT_OK ${long}`, { ...little, lastDelivered, now: after(1) })).toBe('(duplicate)')
  })
})

describe('any reply', () => {
  const dress = fc.constantFrom(
    ['**', '**'],
    ['*', '*'],
    ['_', '_'],
    ['`', '`'],
    ['~~', '~~'],
    ['<b>', '</b>'],
    ['', ''],
  )
  const dressed = fc.array(dress, { maxLength: 5 }).map((layers) => {
    return layers.reduce((inner, [open, close]) => `${open}${inner}${close}`, 'HEARTBEAT_OK')
  })
  const words = fc.array(fc.constantFrom('disk', 'is', 'full', '📬', 'é', '**mail**', 'a.b'), { minLength: 1 })

  it('is acknowledged when a dressed token is alone or comes with few words', () => {
    fc.assert(
      fc.property(dressed, fc.constantFrom('', '.', '!', '…'), words, (token, end, rest) => {
        const few = rest.slice(0, 20).join(' ')
        expect(outcomeOf(`${token}${end}`, { ackMaxChars: 0 })).toBe('(acknowledged)')
        expect(outcomeOf(`${token}${end} ${few}`)).toBe('(acknowledged)')
        expect(outcomeOf(`${few} ${token}${end}`)).toBe('(acknowledged)')
      }),
      { seed: 31, numRuns: 500 },
    )
  })

  it('is delivered as it is when the token is between words', () => {
    fc.assert(
      fc.property(words, dressed, words, (before, token, after) => {
        const reply = `say ${before.join(' ')} ${token} ${after.join(' ')} now`
        expect(outcomeOf(reply)).toBe(reply)
      }),
      { seed: 32 },
    )
  })

  it('never loses a word that is not the token', () => {
    fc.assert(
      fc.property(words, dressed, fc.boolean(), (rest, token, isFirst) => {
        const text = rest.join(' ')
        const reply = isFirst ? `${token} ${text}` : `${text} ${token}`
        expect(outcomeOf(reply, { ackMaxChars: 0 })).toBe(text)
      }),
      { seed: 33, numRuns: 500 },
    )
  })

  it('is either suppressed or delivered with something in it', () => {
    const piece = fc.constantFrom(
      'HEARTBEAT_OK',
      '*',
      '**',
      '_',
      '`',
      '```',
      '\n',
      ' ',
      '<b>',
      '</b>',
      '.',
      'a',
      '(',
      ')',
      '-',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const decision = decideHeartbeatReply(pieces.join(''), theFacts({ ackMaxChars: 0 }))
        if (decision.kind === 'deliver') expect(decision.content.trim()).not.toBe('')
      }),
      { seed: 34, numRuns: 2_000 },
    )
  })
})

describe('a reply of a megabyte', () => {
  const mega = (piece: string): string => piece.repeat(Math.ceil(1_000_000 / piece.length))

  it.each([
    '*',
    '* ',
    '_',
    '`',
    '~',
    ' ',
    '\n',
    '<b>',
    '</b>',
    '.',
    '-',
    '- ',
    '(',
    ')',
    '`\n',
    '```a',
    '``` ',
    'HEARTBEAT_OK',
    'HEARTBEAT_OK ',
    '**HEARTBEAT_OK',
    'HEARTBEAT_OK**',
    '*HEARTBEAT_OK ``` ',
    'x HEARTBEAT_OK```',
    '📬',
    'HEARTBEAT_',
  ])('of %j is judged in no time', (piece) => {
    const started = cpuMs()
    for (const reply of [mega(piece), `${mega(piece)}HEARTBEAT_OK`, `HEARTBEAT_OK${mega(piece)}`, `x${mega(piece)}x`])
      decideHeartbeatReply(reply, theFacts())
    expect(cpuMs() - started).toBeLessThan(2_000)
  })
})
