// What was asked for, or precisely what is wrong with it.
import { parseArgs } from 'node:util'

/** Something in the command line that cannot be meant; its message is all there is to say. */
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

/** What parts were called before, and all of them together: it is in people's fingers. */
const EARLIER_NAMES = { picking: 'in-process' }
const ALL = 'engine'

/**
 * Reads the arguments of the comparison. `parts` and `contestants` are the names there are; `others` are benchmarks that
 * are no part of the comparison, which take their own arguments and therefore stand alone.
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
    if (args.length > 1) throw new UsageError('--report takes nothing else: it writes down what was measured last')
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

/** Those that were named, each once and in the order of all; all of them when none was. */
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

/** How the command is used. */
export const usage = ({ parts, contestants, others }) => `Usage: npm run bench [-- part … | name] [options]

Escapement beside its peers, in one run on one machine: a table per part, then the goals.

  parts          ${parts.join(' ')}
                 (none named: all of them)
  alone          ${others.join(' ')}
                 (of Escapement only, each with arguments of its own)

  --quick                smaller counts, one round: less than ten minutes
  --only <a,b>           the same as naming the parts
  --contestants <a,b>    ${contestants.join(' ')}
  --rounds <n>           how often each contestant is measured, in turns (3; with --quick 1)
  --profile <folder>     CPU profiles of the drains
  --report               write docs/benchmarks.md from the last whole run and later runs of parts
`
