// `npm run chaos [-- faults|… options]`: what Escapement survives. Without a word all programs run, one after the other,
// and options are those of the first.
import process from 'node:process'

// Without a handler Node opens its debugger on this signal.
process.on('SIGUSR1', () => {})

/** Each exports `main(args)`, which prints its own result and answers with the exit code. */
const PROGRAMS = {
  faults: () => import('./chaos/faults.mjs'),
  upgrade: () => import('./chaos/upgrade.mjs'),
  'virtual-day': () => import('./chaos/virtual-day.mjs'),
}

const [word, ...rest] = process.argv.slice(2)
const named = Object.hasOwn(PROGRAMS, word ?? '') ? [word] : Object.keys(PROGRAMS)
let code = 0
for (const [index, name] of named.entries()) {
  const { main } = await PROGRAMS[name]()
  const args = named.length === 1 && name === word ? rest : index === 0 ? process.argv.slice(2) : []
  code = Math.max(code, await main(args))
}
// Whatever a failure has left open must not keep it alive.
process.exit(code)
