import { describe, expect, it } from 'vitest'
import { nothingYet, wrongCommands, wrongInline } from './written/commands.ts'
import { blocksOf, documents, inlineCodeIn, inlineCodeOf } from './written/markdown.ts'
import { commandsIn, linesOf } from './written/shell.ts'

// Every command of every document exists, with its options, and every request has an operation that takes it.

const all = documents()

function wrongIn(document: string): readonly string[] {
  const so = nothingYet()
  return blocksOf(document)
    .filter(({ kind }) => kind === 'sh' || kind === 'console')
    .flatMap((block) => wrongCommands(block, so).map((wrong) => `${document}:${block.line} ${wrong}`))
}

describe('the commands of documents', () => {
  it('exist, in blocks', () => {
    expect(all.flatMap(wrongIn)).toEqual([])
  })

  it('exist, in sentences', () => {
    const wrong = all.flatMap(inlineCodeOf).flatMap((code) => {
      const flaw = wrongInline(code)
      return flaw === null ? [] : [`${code.document}:${code.line} \`${code.text}\`: ${flaw}`]
    })
    expect(wrong).toEqual([])
  })
})

describe('a shell', () => {
  it.each([
    [`a 'b c' "d e" f\\ g`, [['a', 'b c', 'd e', 'f g']]],
    ['a b \\\n  c # d', [['a', 'b', 'c']]],
    ['a | b && c; d & e', [['a'], ['b'], ['c'], ['d'], ['e']]],
    ['a 2>log >out < in b', [['a', 'b']]],
    [`X=$(a "$(b c)" | d '(') e`, [['b', 'c'], ['a', '$(…)'], ['d', '('], ['e']]],
    ['a "b\nc" d\ne', [['a', 'b\nc', 'd'], ['e']]],
  ])('takes %j apart', (text, words) => {
    expect(commandsIn(text).map((one) => one.words)).toEqual(words)
  })

  it('keeps what is set, and refuses what is not closed', () => {
    expect(commandsIn('A=1 B="2 3" c')).toEqual([
      {
        words: ['c'],
        assigned: [
          ['A', '1'],
          ['B', '2 3'],
        ],
      },
    ])
    for (const text of [`a 'b`, 'a "b', 'a $(b']) expect(() => commandsIn(text)).toThrow(/not closed/)
  })
})

describe('the lines of a block', () => {
  it('are commands, however many lines they have', () => {
    expect(linesOf('a \\\n  b\n\nc "d\ne"\nf\n')).toEqual(['a \\\n  b', 'c "d\ne"', 'f'])
  })
})

describe('a wrong command', () => {
  const key = `-H "Authorization: Bearer $KEY"`
  const json = `-H 'Content-Type: application/json'`

  it.each([
    ['escapement schedule list', 'unknown command'],
    ['escapement schedules list --stat active', 'unknown option'],
    ['escapement schedules get', 'missing required argument'],
    ['escapement schedules get a b', 'too many arguments'],
    ['X=$(escapement runs lst --json | jq -r .id)', 'unknown command'],
    ['docker compose exec node-1 escapement doctr', 'unknown command'],
    ['npm run banch', 'there is no script banch'],
    ['npm strat', 'there is no script strat'],
    ['npm start -- cron nxt', 'unknown command'],
    ['npm run fuzz -- parsers --secnds 3', 'knows no --secnds'],
    ['npm run chaos -- fualts', 'knows no fualts'],
    ['npm test -- corse', 'knows no corse'],
    ['npm test -- core/corse', 'knows no core/corse'],
    ['node examples/gone.mjs', 'there is no examples/gone.mjs'],
    ['cp deploy/gone.env deploy/mine.env', 'there is no deploy/gone.env'],
    ['fetch http://127.0.0.1:7420/health', 'no program that documents may use'],
    [`curl $ESCAPEMENT_URL/api/v1/schedule ${key}`, 'no operation answers GET /api/v1/schedule'],
    [`curl -X PUT $ESCAPEMENT_URL/api/v1/schedules/$ID ${key}`, 'no operation answers PUT'],
    ['curl $ESCAPEMENT_URL/api/v1/schedules', 'without a key'],
    [`curl "$ESCAPEMENT_URL/api/v1/schedules?stat=active" ${key}`, 'stat'],
    [`curl $ESCAPEMENT_URL/api/v1/schedules ${key} -d '{"name": "A", "every_seconds": 60}'`, 'content-type'],
    [`curl $ESCAPEMENT_URL/api/v1/schedules ${key} ${json} -d '{"name": "A", "evry_seconds": 60}'`, 'evry_seconds'],
    [`curl $ESCAPEMENT_URL/api/v1/schedules ${key} ${json} -d '{"name": }'`, 'no JSON'],
    [`curl $ESCAPEMENT_URL/api/v1/agents/$ID/heartbeat -X PUT ${key}`, 'without its body'],
    [`curl $ESCAPEMENT_URL/rpc ${key} ${json} -d '{"method": "cron.crate"}'`, 'no method cron.crate'],
    [`curl $ESCAPEMENT_URL/rpc ${key} ${json} -d '{"method": "cron.create", "params": {"expr": "*"}}'`, 'message'],
    ['curl http://localhost:1/health', 'no address of a server'],
  ])('%s is found', (text, wrong) => {
    expect(wrongCommands({ kind: 'sh', text }, nothingYet())).toEqual([expect.stringContaining(wrong)])
  })

  it('is found after a prompt, and nowhere else in a transcript', () => {
    expect(
      wrongCommands({ kind: 'console', text: '$ escapement nodes\nfoo bar\n$ escapement nods\n' }, nothingYet()),
    ).toEqual([expect.stringContaining('nods')])
  })

  it.each([
    ['`escapement doctr`', 'there is no command escapement doctr'],
    ['`escapement schedules\nlst`', 'there is no command escapement schedules lst'],
    ['`escapement apply --plain`', 'has no --plain'],
    ['`npm run banch`', 'there is no script'],
    ['`node bench/gone.mjs`', 'there is no bench/gone.mjs'],
    ['`npx vitest run test/gone.test.ts -u`', 'there is no test/gone.test.ts'],
    ['`A=1 npm test -- stor`', 'knows no stor'],
  ])('%j is found in a sentence', (text, wrong) => {
    expect(inlineCodeIn('a.md', `See ${text}, please.`).map(wrongInline)).toEqual([expect.stringContaining(wrong)])
  })

  it('is not seen where there is none', () => {
    const right = 'Say `escapement targets create … --alerts`, `escapement schedules get`, `escapement` or `npm test`.'
    expect(inlineCodeIn('a.md', right).map(wrongInline)).toEqual([null, null, null, null])
  })
})
