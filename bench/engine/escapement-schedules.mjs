// Escapement with many schedules, with the same exports as the peers in bench/peers/schedules.
import { farAway } from '../peers/schedules/moments.mjs'
import { create } from './escapement.mjs'
import { inFlight } from './world.mjs'

const AGENTS = { a0: () => undefined }

/** Creates `count` schedules, none of them due soon. */
export async function make(url, { count }) {
  const escapement = create(url, { agents: AGENTS })
  await escapement.start()
  await inFlight(count, 100, (i) =>
    escapement.schedules.create({
      ...{ name: `far ${i}`, agent_id: 'a0', cron: farAway(i), timezone: 'UTC', payload: 'go' },
    }),
  )
  await escapement.stop()
}

/** Starts a program that executes due schedules. */
export async function run(url) {
  const escapement = create(url, { agents: AGENTS })
  await escapement.start()
  return { close: () => escapement.stop() }
}
