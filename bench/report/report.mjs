// `npm run bench -- --report`: writes docs/benchmarks.json and the tables of docs/benchmarks.md from result files. A complete
// run (or a quick one, if there is no complete one) replaces the record; a later run of some parts replaces those parts.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { format, resolveConfig } from 'prettier'
import { recordOf, render, withParts } from './page.mjs'

const ROOT = path.join(path.dirname(fileURLToPath(import.meta.url)), '../..')
const RESULTS = 'bench/results'
const WHOLE = ['comparison.json', 'comparison-quick.json']
const RECORD = 'docs/benchmarks.json'
const PAGE = 'docs/benchmarks.md'

const at = (file) => path.join(ROOT, file)
const read = (file) => JSON.parse(readFileSync(at(file), 'utf8'))

/** Returns a message with the written files. */
export async function run() {
  const files = existsSync(at(RESULTS)) ? readdirSync(at(RESULTS)).filter((name) => name.endsWith('.json')) : []
  const runs = files.map((name) => ({ name, ...read(`${RESULTS}/${name}`) })).filter(({ goals }) => goals !== undefined)
  const whole = WHOLE.map((name) => runs.find((one) => one.name === name)).find((one) => one !== undefined)
  const base = whole === undefined ? read(RECORD) : recordOf(whole)
  const later = runs
    .filter(({ name, quick, when }) => !WHOLE.includes(name) && !quick && when > (base.when ?? ''))
    .sort((one, other) => one.when.localeCompare(other.when))
  if (whole === undefined && later.length === 0)
    throw new Error(`There is no finished run in ${RESULTS}: run \`npm run bench\` first.`)
  const record = later.reduce(withParts, base)
  await write(RECORD, JSON.stringify(record))
  await write(PAGE, render(readFileSync(at(PAGE), 'utf8'), record))
  const kind = record.quick ? ' (a quick run, not meaningful)' : ''
  const from = [...(whole === undefined ? [] : [`${whole.name}${kind}`]), ...later.map(({ name }) => name)]
  return `Wrote ${PAGE} and ${RECORD} from ${from.join(' and ')}.`
}

async function write(file, content) {
  const options = await resolveConfig(at(file))
  writeFileSync(at(file), await format(content, { ...options, filepath: at(file) }))
}
