// Memory of a million parsed schedules. Needs `npm run build`. Runs itself again in a separate process.
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseTiming } from '../dist/domain/time/parse-timing.js'
import { parseZone } from '../dist/domain/time/zone.js'

const COUNT = 1_000_000
const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Shanghai', 'Australia/Lord_Howe', 'America/Sao_Paulo']
const WEEKDAYS = ['*', '1-5', 'MON,WED', '0', '5L', '2#1', '6']

/** All are different: second, minute and hour give 86,400, days of the month and of the week the rest. */
function expression(index) {
  const day = 1 + (Math.floor(index / 86_400) % 28)
  const time = `${index % 60} ${Math.floor(index / 60) % 60} ${Math.floor(index / 3600) % 24}`
  return `${time} ${day} * ${WEEKDAYS[index % WEEKDAYS.length]}`
}

function weigh() {
  const megabytes = (bytes) => Math.round(bytes / 1024 / 1024)
  const context = { now: Date.UTC(2026, 0, 15), defaultZone: parseZone('timezone', 'UTC').value }
  globalThis.gc()
  const before = process.memoryUsage().heapUsed
  const begin = performance.now()
  const timings = Array.from({ length: COUNT }, (_, index) => {
    const answer = parseTiming({ cron: expression(index), timezone: ZONES[index % ZONES.length] }, context)
    if (!answer.ok) throw new Error(JSON.stringify(answer.flaws))
    return answer.value
  })
  const parseSeconds = (performance.now() - begin) / 1000
  globalThis.gc()
  const { heapUsed, rss } = process.memoryUsage()
  return {
    schedules: timings.length,
    heapMiB: megabytes(heapUsed - before),
    rssMiB: megabytes(rss),
    bytesEach: Math.round((heapUsed - before) / COUNT),
    parseSeconds: Number(parseSeconds.toFixed(1)),
  }
}

const self = fileURLToPath(import.meta.url)

/** The figures as one object, measured in a new process, so that nothing else uses memory. */
export async function run() {
  const output = execFileSync(process.execPath, ['--expose-gc', '--max-old-space-size=2048', self, '--weigh'])
  return JSON.parse(output.toString())
}

if (process.argv[1] === self) {
  if (process.argv.includes('--weigh')) console.log(JSON.stringify(weigh()))
  else console.table([await run()])
}
