// 1,000 schedules due at the same time: how late their runs start.
import { cpus, loadavg } from 'node:os'
import { inTurns } from '../rounds.mjs'
import { ratioTo, summary, thousands, withRange } from '../statistics.mjs'

export const title = '1,000 schedules due at once, milliseconds late'
export const minutes = { full: 3.4, quick: 0.4 }

const MEASUREMENT = ['schedules.mjs', 'schedules']
const COUNT = 1_000
const TIMEOUT_MS = 90_000
/** These have minute precision and take long to measure: one measurement is enough. */
const BY_THE_MINUTE = ['pg-boss', 'graphile-worker']
/** These have no schedules, or the same ones as another variant. */
const LEFT_OUT = ['raw-sql', 'graphile-plain']

export async function measure(bench) {
  const able = variantsOf(
    bench,
    bench.contestants.filter(({ name }) => !LEFT_OUT.includes(name)),
  )
  const quickly = able.filter(({ kin }) => !BY_THE_MINUTE.includes(kin))
  const slowly = bench.quick ? [] : able.filter(({ kin }) => BY_THE_MINUTE.includes(kin))
  const show = (result) => (result.complete ? `last ${thousands(result.last)} ms` : `${result.started} started`)
  const once = (contestant, { url }) =>
    bench.call(contestant, MEASUREMENT, {
      ...{ url, count: COUNT, timeoutMs: TIMEOUT_MS, leadMs: leadMs(), ...contestant.options },
    })
  const results = {
    ...(await inTurns(bench, { name: 'schedules', contestants: slowly, rounds: 1, show }, once)),
    ...(await inTurns(bench, { name: 'schedules', contestants: quickly, show }, once)),
  }
  const facts = Object.fromEntries(Object.entries(results).map(([name, rounds]) => [name, factsOf(rounds)]))
  return { count: COUNT, facts, rows: rowsOf(facts), notes: notesOf(bench) }
}

/** How long before their due time they are created, because creating them takes longer on a busy machine. */
const leadMs = () => (loadavg()[0] > cpus().length ? 30_000 : 3_000)

function notesOf({ quick, contestants }) {
  const notes = ['Left out: raw-sql has no schedules; graphile-plain has those of graphile-worker.']
  const byTheMinute = contestants.map(({ name }) => name).filter((name) => BY_THE_MINUTE.includes(name))
  if (byTheMinute.length === 0) return notes
  const names = byTheMinute.join(' and ')
  return [...notes, quick ? `Left out of a quick run: ${names}, by the minute only.` : `Measured once: ${names}.`]
}

/** Escapement also with its default lane, except in a quick run. */
const variantsOf = ({ quick }, contestants) =>
  contestants.flatMap((contestant) =>
    contestant.name === 'escapement'
      ? [
          { ...contestant, kin: 'escapement', name: 'escapement, lane of 500', options: { lane: 500 } },
          { ...contestant, kin: 'escapement', name: 'escapement, lane of 30 (default)', options: { lane: 30 } },
        ].slice(0, quick ? 1 : 2)
      : [{ ...contestant, kin: contestant.name, options: {} }],
  )

const factsOf = (rounds) => ({
  started: Math.min(...rounds.map((one) => one.started)),
  complete: rounds.every(({ complete }) => complete),
  first: summary(rounds.map((one) => one.first)),
  p50: summary(rounds.map((one) => one.p50)),
  last: summary(rounds.map((one) => one.last)),
})

function rowsOf(facts) {
  const own = facts['escapement, lane of 500']?.last.median
  return Object.entries(facts).map(([name, fact]) => ({
    contestant: name,
    started: fact.started,
    first: thousands(fact.first.median),
    p50: thousands(fact.p50.median),
    'last (range)': fact.complete ? withRange(fact.last) : `not all within ${TIMEOUT_MS / 1000} s`,
    'ours ×': fact.complete ? ratioTo(own, fact.last.median) : '–',
  }))
}
