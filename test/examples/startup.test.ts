import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SYSTEM_DIRECTORY } from '../../src/platform/db/embedded/embedded.ts'
import { createExamplesWorld, type ExamplesWorld, killServer } from './world.ts'

// How long `start` takes in the places where a checkout may be, and for whom. The promise is made for a quiet machine.

const FIRST_MS = 2_000
const LATER_MS = 1_000
const SLACK = 5

const IS_ROOT = process.getuid?.() === 0
/** `nobody`, who exists everywhere. */
const ORDINARY = 65_534

const PROGRAM = `
import { createEscapement } from 'escapement'

const escapement = createEscapement({ database: { data: './.escapement' } })
const before = performance.now()
await escapement.start()
console.log(Math.round(performance.now() - before))
await escapement.stop()
`

let world: ExamplesWorld
const systemBefore = entriesOf(SYSTEM_DIRECTORY)
const figures: string[] = []

beforeAll(() => {
  world = createExamplesWorld('own')
  world.write('startup.mjs', PROGRAM)
}, 120_000)

afterAll(async () => {
  process.stdout.write(`\nstart of the library, in ms (promised: first ${FIRST_MS}, later ${LATER_MS})\n`)
  for (const line of figures) process.stdout.write(`${line}\n`)
  await world.end()
  // As root, programs are copied for the server's user when it cannot reach the checkout.
  for (const entry of entriesOf(SYSTEM_DIRECTORY))
    if (entry.startsWith('postgresql-') && !systemBefore.includes(entry))
      rmSync(path.join(SYSTEM_DIRECTORY, entry), { recursive: true, force: true })
}, 60_000)

function entriesOf(directory: string): readonly string[] {
  return existsSync(directory) ? readdirSync(directory) : []
}

interface Place {
  readonly name: string
  /** Makes the directory that the checkout goes into. */
  readonly make: (below: string) => string
}

const PLACES: readonly Place[] = [
  {
    name: 'below a private directory',
    make: (below) => {
      const home = path.join(below, 'home')
      mkdirSync(home, { recursive: true })
      chmodSync(home, 0o700)
      return home
    },
  },
  {
    name: 'at the end of a long path',
    make: (below) => {
      const long = path.join(below, 'a'.repeat(70), 'b'.repeat(80))
      mkdirSync(long, { recursive: true })
      return long
    },
  },
]

const USERS = IS_ROOT
  ? [
      { user: 'root', uid: undefined },
      { user: 'an ordinary user', uid: ORDINARY },
    ]
  : [{ user: 'this user', uid: undefined }]

const situations = USERS.flatMap((who) => PLACES.map((where) => ({ ...who, ...where })))

/** A checkout of their own, in that place. */
function settle({ user, uid, make }: (typeof situations)[number]): string {
  const home = make(path.join(world.directory, user.replaceAll(' ', '-')))
  const checkout = path.join(home, 'checkout')
  execFileSync('cp', ['-a', world.checkout, checkout])
  if (uid !== undefined) execFileSync('chown', ['-R', `${uid}:${uid}`, home])
  return checkout
}

/** The server's files and its socket may be far away from the checkout; nothing of them stays. */
async function cleanUp(checkout: string): Promise<void> {
  const note = path.join(checkout, '.escapement/postgres.json')
  if (!existsSync(note)) return
  const { home, socketDirectory } = JSON.parse(readFileSync(note, 'utf8')) as {
    readonly home: string
    readonly socketDirectory: string
  }
  await killServer(path.join(home, 'data'))
  for (const place of [home, socketDirectory])
    if (!place.startsWith(world.directory)) rmSync(place, { recursive: true, force: true })
}

describe('the start of the library', () => {
  it.each(situations)(
    'for $user $name keeps its promise',
    async (situation) => {
      const checkout = settle(situation)
      const how = { checkout, cwd: checkout, ...(situation.uid === undefined ? {} : { uid: situation.uid }) }
      const startMs = async (): Promise<number> => {
        const { stdout, ...ended } = await world.run('startup.mjs', [], how)
        expect(ended).toMatchObject({ code: 0, signal: null })
        return Number(stdout)
      }
      try {
        const first = await startMs()
        const later = await startMs()
        figures.push(`${situation.user}, ${situation.name}: first ${first}, later ${later}`)
        expect(statSync(path.join(checkout, '.escapement')).uid).toBe(situation.uid ?? process.getuid?.())
        expect(first).toBeLessThan(FIRST_MS * SLACK)
        expect(later).toBeLessThan(LATER_MS * SLACK)
      } finally {
        await cleanUp(checkout)
      }
    },
    60_000,
  )
})
