import { parseArgs } from 'node:util'

/** Every part, whether it needs a database server, and its default duration. */
export const PARTS = [
  { name: 'parsers', database: false, seconds: 90 },
  { name: 'api', database: true, seconds: 120 },
  { name: 'connections', database: true, seconds: 90 },
]

export const USAGE = `usage: fuzz [${PARTS.map(({ name }) => name).join('] [')}] [--seconds N] [--seed N] [--grow]
       fuzz <part> --replay <file>

  --seconds N      duration of each part
  --seed N         repeat the inputs of an earlier run
  --grow           add inputs of new kinds to test/fuzz/corpus
  --replay <file>  try only the inputs of a file`

/** The parsed options, or `wrong` with the error. */
export function readOptions(args, chance = Math.random) {
  try {
    const { values, positionals } = parseArgs({
      args,
      strict: true,
      allowPositionals: true,
      options: {
        seconds: { type: 'string' },
        seed: { type: 'string', default: String(Math.floor(chance() * 1_000_000)) },
        replay: { type: 'string' },
        grow: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    })
    if (values.help) return { help: true }
    const unknown = positionals.find((name) => !PARTS.some((part) => part.name === name))
    if (unknown !== undefined) throw new Error(`there is no part "${unknown}"`)
    if (values.replay !== undefined && positionals.length !== 1) throw new Error('--replay needs exactly one part')
    return {
      help: false,
      parts: PARTS.filter(({ name }) => positionals.length === 0 || positionals.includes(name)),
      seconds: values.seconds === undefined ? null : wholeNumber('seconds', values.seconds),
      seed: wholeNumber('seed', values.seed),
      replay: values.replay ?? null,
      grow: values.grow,
    }
  } catch (error) {
    return { wrong: error instanceof Error ? error.message : String(error) }
  }
}

function wholeNumber(name, text) {
  const value = Number(text)
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value) || (name === 'seconds' && value < 1))
    throw new Error(`--${name} must be a whole number, not "${text}"`)
  return value
}
