import { afterAll, beforeAll, expect, it } from 'vitest'
import { createAuthentication } from '../../src/features/access/authentication.ts'
import { textOf } from '../docs/tracked-files.ts'
import { createHttpWorld, KEYS, type HttpWorld, type Method } from './support.ts'

// The worked example of docs/concepts/guard-rails.md: every request, in its order, with the key that the first one makes.

const STEP = /```http run(?: as (\w+))?\n(\w+) (\S+)\n([^]*?)```\n\n```json answer (\d+)\n([^]*?)```/g
const STEPS = [...textOf('docs/concepts/guard-rails.md').matchAll(STEP)]

let world: HttpWorld
beforeAll(async () => {
  world = await createHttpWorld()
  const { authenticate } = createAuthentication(world.services.ports)
  world.change({ authenticate: (text) => KEYS.get(text) ?? authenticate(text) })
})
afterAll(() => world.close())

it('is what happens', async () => {
  expect(STEPS.length).toBeGreaterThan(7)
  let key = ''
  let schedule = ''
  for (const [, as, method = '', path = '', body = '', status = '', answer = ''] of STEPS) {
    const asked = {
      as: as === undefined ? 'owner' : key,
      ...(body.trim() === '' ? {} : { body: JSON.parse(body) as unknown }),
    }
    const said = await world.ask(method as Method, path.replace('{schedule}', schedule), asked)
    const told = said.json<Readonly<Record<string, unknown>>>()
    expect([path, said.statusCode, told]).toMatchObject([path, Number(status), JSON.parse(answer) as object])
    if (typeof told['key'] === 'string') key = told['key']
    if (told['state'] === 'pending_approval') schedule = String(told['id'])
  }
})
