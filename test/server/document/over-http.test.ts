import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readersOf } from '../../../src/api/read-input.ts'
import { Refusal } from '../../../src/api/refusals.ts'
import { send, Things } from '../contract/exchange.ts'
import { makeOwner } from '../contract/objects.ts'
import { createHttpWorld, type HttpWorld } from '../support.ts'
import { bodiesFor, type DrawnBody } from './bodies.ts'
import { FAMILIES, SEED, type Described } from './operations.ts'

// A sample of the same bodies, sent to a server: it refuses what the readers refuse, for the same flaws, and what the
// document allows is refused later only for what the shape cannot say.

const BODIES_OF_FAMILY = 200
const FEWEST_OF_OPERATION = 60
const LONGEST_SENT = 50_000

/** What schemas say of shapes; whoever says it later has read the shape a second time. */
const OF_SHAPE =
  /^(?:is missing|is too long|is too short|is out of range|is not a known (?:field|value)\b.*|must be (?:a text|a number|a whole number|true or false|a list|an object|null|a word))$/

/**
 * What the document cannot know. The items of a file are read one by one, so that a plan can say what is wrong with each.
 * Whether an amount must be whole depends on the unit that is stored.
 */
const READ_LATER: Readonly<Record<string, RegExp>> = {
  'asCode.apply': /^\/(?:agents|budgets|schedules|targets)\/\d+\b/,
  'budgets.update': /^\/(?:amount|default_reserve) must be a whole number$/,
}

const TOLD_IN_PLACE: Readonly<Record<string, string>> = {
  'tasks.batch': '"error"',
  'tasks.submitMany': '"error"',
  'sessions.sendMany': '"ok":false',
}

/** What no database can hold is refused with the JSON, before any reader. */
const IS_UNSTORABLE = /^must not contain/

/** Some of the bodies of an operation, from all over. */
function sampleOf({ described }: Described, count: number): readonly DrawnBody[] {
  const { total, at } = bodiesFor(described, { seed: SEED, count })
  return Array.from({ length: count }, (_, index) => at(Math.floor((index * total) / count))).filter(
    ({ body }) => JSON.stringify(body).length < LONGEST_SENT,
  )
}

/** What the reader of an operation has against a body; null: nothing. */
function flawsBy(read: (body: unknown) => unknown, body: unknown): readonly string[] | null {
  try {
    read(body)
    return null
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return error.flaws.map(({ message }) => message)
  }
}

interface Told {
  readonly errors?: readonly { readonly pointer: string; readonly message: string }[]
  readonly error?: string
}

/** What is wrong with how the server decided about a body; nothing if all is well. */
async function disagreementOn(
  { id, spec, described }: Described,
  { body, things, world }: { readonly body: unknown; readonly things: Things; readonly world: HttpWorld },
): Promise<string | null> {
  const drawn = { kind: 'drawn', refused: false, pick: 0, query: [], body }
  const { response } = await send(world, { id, spec, drawn, things, look: () => Promise.resolve() })
  const { statusCode } = response
  const flaws = flawsBy(readersOf(spec).body ?? ((given) => given), body)
  const { errors = [] } = statusCode === 400 ? response.json<Told>() : {}
  // Where in a text something is wrong is part of the message only on the wire.
  const said = errors.map(({ message }) => message.replace(/ at position \d+$/, ''))
  if (statusCode >= 500) return `it fails: ${response.body}`
  const isSame = spec.facade === true || String(said) === String(flaws) || said.every((one) => IS_UNSTORABLE.test(one))
  if (flaws !== null && (statusCode !== 400 || !isSame))
    return `its reader says "${flaws.join('; ')}", the server ${statusCode} "${said.join('; ')}"`
  // Tasks and messages of one call are decided one by one, and each outcome tells what is wrong.
  const toldInPlace = TOLD_IN_PLACE[id]
  const isToldInPlace = toldInPlace !== undefined && statusCode === 202 && response.body.includes(toldInPlace)
  if (!described.allows(body) && statusCode !== 400 && !isToldInPlace)
    return `the document refuses it, the server answers ${statusCode}`
  const late = flaws === null && described.allows(body) ? errors.filter(({ message }) => OF_SHAPE.test(message)) : []
  const unexpected = late
    .map(({ pointer, message }) => `${pointer} ${message}`)
    .filter((one) => READ_LATER[id]?.test(one) !== true)
  return unexpected.length === 0 ? null : `the document allows it, the server says ${unexpected.join('; ')}`
}

describe.each(FAMILIES)('bodies of %s, sent to a server', (_family, operations) => {
  const count = Math.max(FEWEST_OF_OPERATION, Math.ceil(BODIES_OF_FAMILY / operations.length))
  let world: HttpWorld

  beforeAll(async () => {
    world = await createHttpWorld()
    await makeOwner(world)
  })
  afterAll(() => world.close())

  it.each(operations)('$id: the server decides as its reader and the document do', async (operation) => {
    const things = new Things(world)
    const found: string[] = []
    for (const { body, number } of sampleOf(operation, count)) {
      const disagreement = await disagreementOn(operation, { body, things, world })
      if (disagreement !== null)
        found.push(`body ${number} of seed ${SEED}: ${disagreement}: ${JSON.stringify(body).slice(0, 300)}`)
    }
    expect(found.slice(0, 5).join('\n')).toBe('')
  })
})
