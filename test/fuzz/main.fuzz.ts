import { ftruncateSync, openSync, writeFileSync, writeSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { readCorpus, readKept } from './corpus.ts'
import type { PartEnd } from './part.ts'
import { PARTS } from './parts.ts'

/** What the command wants of this process. */
interface Order {
  readonly part: string
  readonly seconds: number
  readonly seed: number
  /** A file of inputs that are tried instead of new ones. */
  readonly replay: string | null
  /** Where this process says what it is about, and how it ended. */
  readonly directory: string
}

const order = JSON.parse(process.env['ESCAPEMENT_FUZZ'] ?? '{}') as Order

/** Written straight through: whoever hangs in the next moment has said what it was about to do. */
const stepFile = openSync(path.join(order.directory, 'step'), 'w')
const say = (line: string): void => void writeSync(1, `${line}\n`)

/** Larger inputs are told by their beginning: writing a megabyte for each attempt would be all that is done. */
const MOST_NOTED = 200_000
let steps = 0

function note(where: string, input: unknown): void {
  steps += 1
  const told = JSON.stringify({ steps, where, input })
  const short = told.length > MOST_NOTED ? JSON.stringify({ steps, where, input: told.slice(0, MOST_NOTED) }) : told
  writeSync(stepFile, short, 0)
  ftruncateSync(stepFile, Buffer.byteLength(short))
}

it('tries one part', async () => {
  const part = PARTS.find(({ name }) => name === order.part)
  if (part === undefined) throw new Error(`there is no part ${order.part}`)
  const { seconds, seed, replay } = order
  const corpus = readCorpus(part.name).map(({ input }) => input)
  const kept = replay === null ? [] : readKept(replay).map(({ input }) => input)
  const end: PartEnd =
    replay === null
      ? await part.run({ seconds, seed, say, note, corpus })
      : { tried: kept.length, findings: await part.replay(kept), facts: {} }
  writeFileSync(path.join(order.directory, 'end.json'), JSON.stringify(end))
  expect(end.tried).toBeGreaterThan(0)
}, 2_147_483_647)
