import { expect } from 'vitest'
import { createClient } from '../../src/client/client.ts'
import type { EventsFilter } from '../../src/client/events.ts'
import type { EventView } from '../../src/features/events/schema.ts'
import type { RunView } from '../../src/features/runs/schema.ts'
import type { SessionView } from '../../src/features/sessions/schema.ts'
import type { RawAnswer } from '../http-scenarios/world.ts'
import type { World } from './world.ts'

const pathOf = (key: string, rest = ''): string => `/api/v1/sessions/${encodeURIComponent(key)}${rest}`

/** Sends a message and answers with the whole answer. Not debounced unless the fields say so. */
export const message = (world: World, key: string, fields: object): Promise<RawAnswer> =>
  world.post(pathOf(key, '/messages'), { debounce_ms: 0, ...fields })

/** Sends a message that is accepted, and answers with the id of its run. */
export async function send(world: World, key: string, text: string, fields: object = {}): Promise<string> {
  const answer = await message(world, key, { text, ...fields })
  expect(answer.status, JSON.stringify(answer.body)).toBe(202)
  return String(answer.body['run_id'])
}

/** Sends one message after the other. */
export async function sendAll(
  world: World,
  key: string,
  texts: readonly string[],
  fields: object = {},
): Promise<readonly string[]> {
  const ids: string[] = []
  for (const text of texts) ids.push(await send(world, key, text, fields))
  return ids
}

/** Changes the rules of a session. */
export async function setRules(world: World, key: string, rules: object): Promise<void> {
  const answer = await world.patch(pathOf(key), rules)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
}

export async function sessionOf(world: World, key: string): Promise<SessionView> {
  const answer = await world.get(pathOf(key))
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body as unknown as SessionView
}

/** How these runs ended. */
export const endings = async (world: World, ids: readonly string[]): Promise<readonly string[]> =>
  (await Promise.all(ids.map(world.ended))).map(({ status }) => status)

/** The run as it is now. */
export const runOf = async (world: World, id: string): Promise<RunView> => world.server.runs.get(id)

/** Plays while it listens to events of these kinds, until one fits. */
export async function eventOf(
  world: World,
  filter: EventsFilter,
  play: () => Promise<(event: EventView) => boolean>,
): Promise<EventView> {
  const listening = new AbortController()
  const seen: EventView[] = []
  let isOpen = false
  const listen = async (): Promise<void> => {
    const options = { signal: listening.signal, onOpen: () => void (isOpen = true) }
    const client = createClient({ url: world.server.url, key: world.server.key })
    for await (const event of client.events(filter, options)) if (event.kind !== 'reset') seen.push(event)
  }
  const ended = listen().catch(() => undefined)
  try {
    await world.until(() => isOpen)
    const fits = await play()
    return await world.until(() => {
      const found = seen.find(fits)
      if (found === undefined) throw new Error(`so far: ${JSON.stringify(seen)}`)
      return found
    })
  } finally {
    listening.abort()
    await ended
  }
}
