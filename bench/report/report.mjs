// `npm run bench -- --report`: makes the run that was measured last the one of record. Writes docs/benchmarks.json and the
// tables of docs/benchmarks.md out of bench/results/comparison.json, or out of a quick run while there is no whole one.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { format, resolveConfig } from 'prettier'
import { recordOf, render } from './page.mjs'

const ROOT = path.join(path.dirname(fileURLToPath(import.meta.url)), '../..')
const RESULTS = ['bench/results/comparison.json', 'bench/results/comparison-quick.json']
const RECORD = 'docs/benchmarks.json'
const PAGE = 'docs/benchmarks.md'

const at = (file) => path.join(ROOT, file)

/** Answers with what was written. */
export async function run() {
  const from = RESULTS.find((file) => existsSync(at(file)))
  if (from === undefined) throw new Error(`There is no ${RESULTS[0]}: run \`npm run bench\` first.`)
  const results = JSON.parse(readFileSync(at(from), 'utf8'))
  if (results.goals === undefined) throw new Error(`${from} is of a run that did not come to its end.`)
  const record = recordOf(results)
  await write(RECORD, JSON.stringify(record))
  await write(PAGE, render(readFileSync(at(PAGE), 'utf8'), record))
  const day = record.when.slice(0, 10)
  const kind = record.quick ? `a quick run of ${day}, which is no evidence` : `the run of ${day}`
  return `${PAGE} and ${RECORD} are written from ${from}: ${kind}.`
}

async function write(file, content) {
  const options = await resolveConfig(at(file))
  writeFileSync(at(file), await format(content, { ...options, filepath: at(file) }))
}
