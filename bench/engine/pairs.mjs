// `npm run bench -- pairs --before <dir> --after <dir> [--only drain,submission,latency] [--pairs 9] [--quick]`: compares
// two built checkouts of Escapement. Each measurement alternates between both, so that other load on the machine affects both.
// The measuring code is that of this checkout; the library is that of each directory.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { loadavg } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { installPeers } from '../peers/install.mjs'
import { UsageError } from './arguments.mjs'
import { endAll, inProcess } from './processes.mjs'
import { writeResults } from './results.mjs'
import { demand } from './rounds.mjs'
import { startServer } from './server.mjs'
import { median, medianInterval, round, thousands } from './statistics.mjs'

const MEASUREMENTS = path.join(path.dirname(fileURLToPath(import.meta.url)), 'measurements')
/** The accepted slowdown: an interval that ends below this fails. */
const LIMIT = 0.95
const SIZES = {
  full: { drained: 40_000, seconds: 2, latencies: 150 },
  quick: { drained: 10_000, seconds: 0.5, latencies: 50 },
}
const SIGNALS = ['SIGINT', 'SIGTERM']

/** Runs each measurement for one side, on a separate database; returns its figures by name. */
const TAKEN = {
  drain: async ({ call, contestant, sizes: { drained: count }, database: { url, pid, analyze } }) => {
    await call('drain.mjs', 'fill', { contestant, url, count })
    await analyze()
    const result = await call('drain.mjs', 'drain', { contestant, url, count, server: pid })
    demand(contestant.file, 'completed', { is: result.counts.completed, expected: count })
    return { drain: result.perSecond, 'drain, processor µs': result.nodeMicros + (result.serverMicros ?? 0) }
  },
  submission: async ({ call, contestant, sizes: { seconds }, database: { url } }) => {
    const { one, inFlight } = await call('submission.mjs', 'submission', { contestant, url, seconds })
    return { 'submission, one by one': one, 'submission, 32 in flight': inFlight }
  },
  latency: async ({ call, contestant, sizes: { latencies: rounds }, database: { url } }) => {
    const { times } = await call('latency.mjs', 'idle', { contestant, url, rounds })
    return { 'latency p50, idle': median(times) }
  },
}

/** The figures, and whether less is better. The CPU time of a drain is shown but doesn't affect the result. */
const FIGURES = {
  drain: { unit: 'runs/s', digits: 0 },
  'drain, processor µs': { unit: 'µs', digits: 1, isLessBetter: true, isShownOnly: true },
  'submission, one by one': { unit: '1/s', digits: 0 },
  'submission, 32 in flight': { unit: '1/s', digits: 0 },
  'latency p50, idle': { unit: 'ms', digits: 2, isLessBetter: true },
}

export async function run(args) {
  const wanted = read(args)
  const { node } = await installPeers()
  const began = performance.now()
  const server = await startServer()
  const leave = () => {
    endAll()
    void server.stop()
  }
  for (const signal of SIGNALS) process.once(signal, leave)
  try {
    const pairs = await takePairs(wanted, { node, server })
    const rows = rowsOf(pairs)
    const seconds = Math.round((performance.now() - began) / 1_000)
    const sides = { before: commitOf(wanted.before), after: commitOf(wanted.after) }
    writeResults('pairs.json', { when: new Date().toISOString(), ...sides, seconds, rows, pairs })
    console.log(`\n${pairs.length} pairs in ${thousands(seconds)} s; before ${sides.before}, after ${sides.after}.`)
    console.log(`PASS: the 95 % interval of the ratio includes or exceeds ${LIMIT}. Above 1, after is better.`)
    return rows
  } finally {
    for (const signal of SIGNALS) process.off(signal, leave)
    await server.stop()
  }
}

function read(args) {
  const { values } = parseArgs({
    args,
    options: {
      before: { type: 'string' },
      after: { type: 'string' },
      only: { type: 'string', default: Object.keys(TAKEN).join(',') },
      pairs: { type: 'string', default: '9' },
      quick: { type: 'boolean', default: false },
    },
  })
  const only = values.only.split(',').map((name) => name.trim())
  const unknown = only.find((name) => TAKEN[name] === undefined)
  if (unknown !== undefined)
    throw new UsageError(`Unknown measurement "${unknown}" (allowed: ${Object.keys(TAKEN).join(', ')})`)
  if (!/^[1-9]\d?$/.test(values.pairs)) throw new UsageError(`--pairs is a number from 1 to 99, not "${values.pairs}"`)
  return {
    only,
    sizes: values.quick ? SIZES.quick : SIZES.full,
    pairs: Number(values.pairs),
    before: checkoutOf('--before', values.before),
    after: checkoutOf('--after', values.after),
  }
}

function checkoutOf(option, directory) {
  if (directory === undefined) throw new UsageError(`${option} <dir> is missing: a built checkout`)
  const checkout = path.resolve(directory)
  for (const file of ['bench/engine/escapement.mjs', 'dist/index.js'])
    if (!existsSync(path.join(checkout, file))) throw new UsageError(`${option}: no ${file} in ${directory}; build it`)
  return checkout
}

/** The first pair is a warm-up and not counted; the side that goes first alternates. */
async function takePairs({ only, pairs, sizes, ...sides }, tools) {
  const all = []
  for (let pair = 0; pair <= pairs; pair += 1) {
    const order = pair % 2 === 0 ? ['before', 'after'] : ['after', 'before']
    const figures = { before: {}, after: {} }
    for (const name of only)
      for (const side of order)
        Object.assign(figures[side], await take({ name, checkout: sides[side], sizes, ...tools }))
    if (pair > 0) all.push({ load: round(loadavg()[0], 1), ...figures })
    process.stdout.write(`   ${pair === 0 ? 'warm-up' : `pair ${pair}`}: ${shownPair(figures)}\n`)
  }
  return all
}

const take = ({ name, checkout, sizes, node, server }) =>
  server.withDatabase('pairs', (url) =>
    TAKEN[name]({
      sizes,
      contestant: { file: path.join(checkout, 'bench/engine/escapement.mjs') },
      call: (file, measurement, options) =>
        inProcess({ node, file: path.join(MEASUREMENTS, file), name: measurement, options }),
      database: { url, pid: server.pid, analyze: () => server.analyze('pairs') },
    }),
  )

/** After ÷ before, or the inverse if less is better: above 1 is better. */
const ratioOf = (name, { before, after }) =>
  FIGURES[name].isLessBetter ? before[name] / after[name] : after[name] / before[name]

const shownPair = (figures) =>
  Object.keys(figures.before)
    .map((name) => `${name} ${ratioOf(name, figures).toFixed(2)}`)
    .join(', ')

/** One row per figure: medians of both sides, and the median ratio of the pairs with its interval. */
export function rowsOf(pairs) {
  return Object.keys(pairs[0].before).map((name) => {
    const { unit, digits, isShownOnly } = FIGURES[name]
    const { middle, low, high, confidence } = medianInterval(pairs.map((pair) => ratioOf(name, pair)))
    const of = (side) => round(median(pairs.map((pair) => pair[side][name])), digits)
    const isPassed = high >= LIMIT
    return {
      measurement: name,
      unit,
      before: of('before'),
      after: of('after'),
      ratio: round(middle, 3),
      interval: `${low.toFixed(3)} – ${high.toFixed(3)}`,
      confidence: `${round(confidence * 100, 1)} %`,
      verdict: isShownOnly ? '–' : isPassed ? 'PASS' : 'FAIL',
      ...(isShownOnly ? {} : { ok: isPassed }),
    }
  })
}

function commitOf(checkout) {
  try {
    return execFileSync('git', ['-C', checkout, 'rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()
  } catch {
    return path.basename(checkout)
  }
}
