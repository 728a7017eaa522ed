import { readdirSync } from 'node:fs'
import path from 'node:path'
import { STEPS } from './steps.mjs'

const CIRCLES = { all: () => true, rest: ({ circle }) => circle === 'second' }

/**
 * Returns what to run: `{ steps, vitestArgs, circle }`, or `{ unknown }` for an unknown argument. Leading arguments are names
 * of steps, `all`, `rest` (all except what `npm test` runs), or parts of the paths of test files; everything from the first
 * option on is passed to vitest.
 */
export function select(args, root) {
  const files = testFiles(root)
  const { steps, ...rest } = choose(args, files)
  return steps === undefined ? rest : { ...rest, steps: steps.map((step) => withoutExceptions(step, files)) }
}

/** Whether a file belongs to a step. */
export const isIn = ({ folders, except = [] }, file) =>
  folders.some((folder) => file.startsWith(folder)) && !except.some((one) => file.startsWith(one))

/** Resolves exceptions to a list of files, because vitest has no additional exclusions on the command line. */
const withoutExceptions = (step, files) =>
  step.except === undefined ? step : { ...step, folders: files.filter((file) => isIn(step, file)) }

function choose(args, files) {
  const end = args.findIndex((argument) => argument.startsWith('-'))
  const words = end === -1 ? args : args.slice(0, end)
  const vitestArgs = end === -1 ? [] : args.slice(end)
  if (words.length === 0)
    return { steps: STEPS.filter(({ circle }) => circle === 'first'), vitestArgs, circle: 'first' }
  if (words.length === 1 && words[0] in CIRCLES)
    return { steps: STEPS.filter(CIRCLES[words[0]]), vitestArgs, circle: words[0] }
  const found = words.map((word) => [word, stepsFor(word, files)])
  const unknown = found.find(([, steps]) => steps.length === 0)
  if (unknown !== undefined) return { unknown: unknown[0] }
  return { steps: found.flatMap(([, steps]) => steps), vitestArgs, circle: undefined }
}

/** The names that `select` knows. */
export const NAMES = [...STEPS.map(({ name }) => name), ...Object.keys(CIRCLES)]

function stepsFor(word, files) {
  const named = STEPS.filter(({ name }) => name === word)
  if (named.length > 0) return named
  const wanted = files.filter((file) => file.includes(word.replace(/^\.\//, '')))
  return wanted.length === 0 ? [] : [{ name: word, folders: wanted }]
}

const testFiles = (root) =>
  readdirSync(path.join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .map((file) => `test/${file.split(path.sep).join('/')}`)
    .filter((file) => file.endsWith('.test.ts') && !file.includes('/fixtures/'))
