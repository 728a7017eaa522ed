// Parses the arguments.
import { parseArgs } from 'node:util'

/** An error in the command line, shown without a stack trace. */
export class UsageError extends Error {}

const OPTIONS = {
  quick: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
  report: { type: 'boolean', default: false },
  only: { type: 'string' },
  contestants: { type: 'string' },
  rounds: { type: 'string' },
  profile: { type: 'string' },
}

/** Earlier names of parts, and a name for all of them. */
const EARLIER_NAMES = { picking: 'in-process' }
const ALL = 'engine'

/**
 * Reads the arguments of the comparison. `parts` and `contestants` are the known names; `others` are benchmarks outside the
 * comparison, which take their own arguments and can't be combined with parts.
 */
export function readArguments(args, { parts, contestants, others }) {
  const own = others.find((name) => args[0] === name)
  if (own !== undefined) return { kind: 'other', name: own, args: args.slice(1) }
  const { values, positionals } = parsed(args)
  if (values.help) return { kind: 'help' }
  const beside = positionals.find((name) => others.includes(name))
  if (beside !== undefined)
    throw new UsageError(`"${beside}" is no part of the comparison: run it alone, as npm run bench -- ${beside}`)
  if (values.report) {
    if (args.length > 1) throw new UsageError('--report takes nothing else: it writes the results of the last runs')
    return { kind: 'report' }
  }
  const named = [...positionals.filter((name) => name !== ALL), ...listed(values.only)].map(
    (name) => EARLIER_NAMES[name] ?? name,
  )
  return {
    kind: 'comparison',
    quick: values.quick,
    whole: named.length === 0 && values.contestants === undefined,
    parts: chosen(named, { all: parts, what: 'part', also: others }),
    contestants: chosen(listed(values.contestants), { all: contestants, what: 'contestant' }),
    rounds: roundsOf(values),
    profile: values.profile,
  }
}

function parsed(args) {
  try {
    return parseArgs({ args, options: OPTIONS, allowPositionals: true })
  } catch (error) {
    throw new UsageError(error.message)
  }
}

const listed = (text) => (text === undefined ? [] : text.split(',').map((name) => name.trim()))

/** The given names, each once and in the order of `all`; all of them if none is given. */
function chosen(named, { all, what, also = [] }) {
  const unknown = named.find((name) => !all.includes(name))
  if (unknown !== undefined) {
    const beside = also.length === 0 ? '' : `; alone: ${also.join(', ')}`
    throw new UsageError(`There is no ${what} "${unknown}" (allowed: ${all.join(', ')}${beside})`)
  }
  return named.length === 0 ? [...all] : all.filter((name) => named.includes(name))
}

function roundsOf({ rounds, quick }) {
  if (rounds === undefined) return quick ? 1 : 3
  if (!/^[1-9]\d?$/.test(rounds)) throw new UsageError(`--rounds is a whole number from 1 to 99, not "${rounds}"`)
  return Number(rounds)
}

/** The help text of the command. */
export const usage = ({ parts, contestants, others }) => `Usage: npm run bench [-- part … | name] [options]

Compares Escapement with its peers, in one run on one machine. Prints a table per part, then the goals.

  parts          ${parts.join(' ')}
                 (default: all)
  alone          ${others.join(' ')}
                 (Escapement only, each with its own arguments)

  --quick                smaller counts, one round: less than ten minutes
  --only <a,b>           parts, as an option
  --contestants <a,b>    ${contestants.join(' ')}
  --rounds <n>           number of rounds (default 3; with --quick 1)
  --profile <folder>     CPU profiles of the drains
  --report               write docs/benchmarks.md from the last complete run and later runs of parts
`
