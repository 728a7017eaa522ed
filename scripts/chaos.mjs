// `npm run chaos [-- faults|hostile|upgrade|virtual-day options]`: chaos tests. Without a name, all programs run one after the
// other, and the options apply to the first.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

// Without a handler, Node opens its debugger on this signal.
process.on('SIGUSR1', () => {})

/** Each exports `main(args)`, which prints its result and returns the exit code. */
const PROGRAMS = {
  faults: () => import('./chaos/faults.mjs'),
  hostile: () => import('./chaos/hostile.mjs'),
  upgrade: () => import('./chaos/upgrade.mjs'),
  'virtual-day': () => import('./chaos/virtual-day.mjs'),
}

const VERDICTS = new Map([
  [0, 'passed'],
  [2, 'invalid options'],
  [3, 'not run'],
])

let interrupted = false

const [word, ...rest] = process.argv.slice(2)
if (Object.hasOwn(PROGRAMS, word ?? '')) {
  const { main } = await PROGRAMS[word]()
  // Handles that a failure left open must not keep the process alive.
  process.exit(await main(rest))
}
process.exit(await runAll(process.argv.slice(2)))

/** Runs each in a separate process, so that leftovers such as signal handlers don't affect the next. */
async function runAll(args) {
  const verdicts = []
  let worst = 0
  for (const [index, name] of Object.keys(PROGRAMS).entries()) {
    const code = await runAlone([name, ...(index === 0 ? args : [])])
    verdicts.push(`${name} ${VERDICTS.get(code) ?? 'failed'}`)
    worst = Math.max(worst, code)
    // After invalid options or an interruption, don't run the rest.
    if (code === 2 || interrupted) break
  }
  process.stdout.write(`${verdicts.join(', ')}\n`)
  return worst
}

async function runAlone(args) {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), ...args], { stdio: 'inherit' })
  const handlers = ['SIGINT', 'SIGTERM'].map((signal) => {
    const pass = () => {
      interrupted = true
      // The child cleans up after itself. It has already received a terminal's SIGINT, and listens only once.
      if (signal === 'SIGTERM') child.kill(signal)
    }
    process.on(signal, pass)
    return () => process.off(signal, pass)
  })
  const [code] = await once(child, 'exit')
  for (const remove of handlers) remove()
  return code ?? 1
}
