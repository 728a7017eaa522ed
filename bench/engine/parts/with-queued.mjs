// A database with a long queue that no node has loaded yet.
import { PENDING_COUNT, seedQueued, setTemplateAside, settle, withClient } from '../seeding.mjs'

/** Runs are spread over a thousand agents and a hundred thousand sessions. */
export const QUEUED_AGENTS = 1_000
const LAYOUT = { agent: `'a' || i % ${QUEUED_AGENTS}`, session: `'s' || i % 100000` }

/** Calls `work(url)` with `count` queued runs, which are copies of `template`. */
export const withQueued = (bench, { name, count, layout = LAYOUT, template = {} }, work) =>
  bench.server.withDatabase(name, async (url) => {
    await bench.ask('makeTemplates', { url, agents: ['template'], ...template }, { file: 'growth.mjs' })
    await withClient(url, async (client) => {
      await setTemplateAside(client, 'template')
      await seedQueued(client, { layout, count })
      await settle(client)
      const { rows } = await client.query(`select ${PENDING_COUNT} as count`)
      if (rows[0].count !== count) throw new Error(`${rows[0].count} of ${count} runs were seeded`)
    })
    bench.say(`${count.toLocaleString('en-US')} queued runs written`)
    return work(url)
  })
