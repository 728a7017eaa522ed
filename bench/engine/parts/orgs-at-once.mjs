// Several orgs receive a message at the same time, on a node without other work.
import { randomBytes } from 'node:crypto'
import { withServed } from '../../http/served.mjs'
import { LATE_MS } from '../measurements/orgs-at-once.mjs'
import { seedKeys, seedOrgs, settle, withClient } from '../seeding.mjs'
import { median, quantile, round } from '../statistics.mjs'

export const title = 'Messages of several orgs at once on an idle node, milliseconds until each starts'
export const minutes = { full: 2.2, quick: 0.5 }

const PLAN = { full: { 2: 30, 10: 20 }, quick: { 2: 3, 10: 2 } }

export async function measure(bench) {
  const facts = {}
  for (const [orgs, rounds] of Object.entries(bench.quick ? PLAN.quick : PLAN.full)) {
    facts[orgs] = await once(bench, { orgs: Number(orgs), rounds })
    bench.say(`${orgs} orgs: p50 ${facts[orgs].p50} ms, max ${facts[orgs].max} ms, ${facts[orgs].late} late`)
  }
  return { facts, rows: Object.entries(facts).map(rowOf), notes: NOTES }
}

const once = (bench, { orgs, rounds }) =>
  bench.server.withDatabase('at_once', async (url) => {
    const serve = {
      ...{ node: bench.node, config: { outbound: { allow_loopback: true } } },
      outside: { url, postmaster: bench.server.pid, key: `esc_${randomBytes(32).toString('base64url')}` },
    }
    // The first server creates the schema and executes a run, which is then multiplied.
    await withServed(serve, ({ ask }) => ask('POST', '/api/v1/sessions/agent:echo:bench:dm:s/messages', { text: 'go' }))
    await withClient(url, async (client) => {
      await seedOrgs(client, orgs)
      await seedKeys(client, orgs)
      await settle(client)
    })
    const { times, missing } = await withServed(serve, (served) =>
      bench.ask('atOnce', { url: served.url, orgs, rounds }, { file: 'orgs-at-once.mjs' }),
    )
    const late = times.filter((ms) => ms > LATE_MS).length + missing
    const [p50, p99, max] = [median(times), quantile(times, 0.99), Math.max(...times)].map((ms) => round(ms, 1))
    return {
      starts: times.length + missing,
      late,
      missing,
      latePercent: (late / (times.length + missing)) * 100,
      p50,
      p99,
      max,
    }
  })

const rowOf = ([orgs, fact]) => ({
  orgs: Number(orgs),
  starts: fact.starts,
  p50: fact.p50,
  p99: fact.p99,
  max: fact.max,
  [`later than ${LATE_MS} ms`]: fact.late,
  '% late': round(fact.latePercent, 1),
  'not within 10 s': fact.missing,
})

const NOTES = [
  'From the request to the call of the agent, both over HTTP on loopback. The node is `escapement serve`; every run takes 1.3 s, longer than the polling interval of a node, so that the end of one run cannot start another that was overlooked.',
]
