// `npm run chaos [-- faults|hostile|upgrade|virtual-day options]`: what Escapement survives. Without a word all programs run, one
// after the other, and options are those of the first.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

// Without a handler Node opens its debugger on this signal.
process.on('SIGUSR1', () => {})

/** Each exports `main(args)`, which prints its own result and answers with the exit code. */
const PROGRAMS = {
  faults: () => import('./chaos/faults.mjs'),
  hostile: () => import('./chaos/hostile.mjs'),
  upgrade: () => import('./chaos/upgrade.mjs'),
  'virtual-day': () => import('./chaos/virtual-day.mjs'),
}

const VERDICTS = new Map([
  [0, 'passed'],
  [2, 'asked for wrongly'],
  [3, 'not run'],
])

let interrupted = false

const [word, ...rest] = process.argv.slice(2)
if (Object.hasOwn(PROGRAMS, word ?? '')) {
  const { main } = await PROGRAMS[word]()
  // Whatever a failure has left open must not keep it alive.
  process.exit(await main(rest))
}
process.exit(await runAll(process.argv.slice(2)))

/** Each in a process of its own: what one leaves behind, signal handlers too, is no concern of the next. */
async function runAll(args) {
  const verdicts = []
  let worst = 0
  for (const [index, name] of Object.keys(PROGRAMS).entries()) {
    const code = await runAlone([name, ...(index === 0 ? args : [])])
    verdicts.push(`${name} ${VERDICTS.get(code) ?? 'failed'}`)
    worst = Math.max(worst, code)
    // Whoever asked wrongly, or has had enough, does not want the rest.
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
      // It cleans up after itself. Of a terminal's signal it has heard already, and listens once.
      if (signal === 'SIGTERM') child.kill(signal)
    }
    process.on(signal, pass)
    return () => process.off(signal, pass)
  })
  const [code] = await once(child, 'exit')
  for (const remove of handlers) remove()
  return code ?? 1
}
