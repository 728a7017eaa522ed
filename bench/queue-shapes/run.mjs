// The hot-queue experiment: `node bench/queue-shapes/run.mjs [--shapes A,B,C,D,E] [part …]`.
// Parts: drain, steady, buffers, history, submit; all of them take about three quarters of an hour. Needs `npm run build`.
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { startServer } from '../engine/server.mjs'
import * as measure from './measure.mjs'
import * as line from './shapes/line.mjs'
import * as marked from './shapes/marked.mjs'
import * as naive from './shapes/naive.mjs'
import * as narrow from './shapes/narrow.mjs'
import * as short from './shapes/short.mjs'
import { latency, submission } from './submission.mjs'
import { LAYOUTS } from './world.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    shapes: { type: 'string', default: 'A,B,C,D,E' },
    seconds: { type: 'string', default: '60' },
    largest: { type: 'string', default: '1000000' },
    layout: { type: 'string' },
    step: { type: 'string', default: '10' },
    out: { type: 'string' },
  },
})
const shapes = [naive, marked, narrow, line, short].filter((shape) => values.shapes.split(',').includes(shape.name[0]))
const wanted = positionals.length > 0 ? positionals : ['drain', 'submit', 'steady', 'buffers', 'history']
const largest = Number(values.largest)
const step = Number(values.step)
const median = (all) => [...all].sort((a, b) => a - b)[Math.floor(all.length / 2)]
const facts = {}

const PARTS = {
  async drain(server) {
    const speeds = Object.fromEntries([['raw', []], ...shapes.map((shape) => [shape.name, []])])
    for (let round = 0; round < 3; round += 1) {
      speeds.raw.push(await measure.drainRaw(server))
      for (const shape of shapes) speeds[shape.name].push(await measure.drain(server, shape))
    }
    return Object.entries(speeds).map(([name, all]) => ({
      name,
      'runs/s': median(all.map((one) => one.speed)),
      'of raw': (median(all.map((one) => one.speed)) / median(speeds.raw.map((one) => one.speed))).toFixed(2),
      'server µs/run': median(all.map((one) => one.cpu)),
      all: all.map((one) => one.speed).join(' '),
    }))
  },
  async submit(server) {
    const measured = Object.fromEntries(shapes.map((shape) => [shape.name, []]))
    for (let round = 0; round < 3; round += 1)
      for (const shape of shapes) measured[shape.name].push(await submission(server, shape, {}))
    const rows = []
    for (const shape of shapes) {
      const speeds = measured[shape.name].map((one) => one.perSecond)
      const { two, one } = await latency(server, shape)
      rows.push({
        name: shape.name,
        'submissions/s': median(speeds),
        all: speeds.join(' '),
        'server µs': median(measured[shape.name].map(({ cpu }) => cpu)),
        'two transactions p50': two.p50,
        'one p50': one.p50,
        'one p99': one.p99,
      })
    }
    return rows
  },
  async steady(server) {
    const rows = []
    for (const shape of shapes)
      for (const pinned of [false, true]) {
        const { windows, cpu, sizes } = await measure.steady(server, shape, { seconds: Number(values.seconds), pinned })
        rows.push({
          name: shape.name,
          pinned,
          first: windows[0],
          last: windows.at(-1),
          mean: Math.round(windows.reduce((a, b) => a + b, 0) / windows.length),
          windows: windows.join(' '),
          'server µs/run': cpu.join(' '),
        })
        console.log(JSON.stringify(rows.at(-1)), JSON.stringify(sizes))
      }
    return rows
  },
  async buffers(server) {
    const rows = []
    for (const layout of Object.keys(LAYOUTS).filter((one) => values.layout === undefined || values.layout === one))
      for (const shape of shapes)
        for (let count = 1_000; count <= largest; count *= step) {
          const result = await measure.buffers(server, shape, { layout, count })
          rows.push({ layout, name: shape.name, queued: count, ...result })
          console.log(JSON.stringify(rows.at(-1)))
        }
    return rows
  },
  async history(server) {
    const rows = []
    for (const shape of shapes)
      for (const count of [10_000, 1_000_000, 10_000_000].filter(
        (one) => one <= 10 * largest && (one <= largest || shape === short),
      )) {
        rows.push({ name: shape.name, ended: count, ...(await measure.history(server, shape, { count })) })
        console.log(JSON.stringify(rows.at(-1)))
      }
    return rows
  },
}

const server = await startServer({ log_min_messages: 'fatal' })
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void server.stop().then(() => process.exit(1)))
try {
  for (const part of wanted) {
    console.log(`\n== ${part}`)
    facts[part] = await PARTS[part](server)
    console.table(facts[part])
  }
} finally {
  await server.stop()
  if (values.out !== undefined) writeFileSync(values.out, JSON.stringify(facts, null, 1))
}
