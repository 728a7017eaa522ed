import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { table } from './tables.mjs'

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..')
const FOLDER = 'test/coverage'

/** The rows of test/coverage, read without executing any of their checks. */
export async function readCoverage() {
  // Imported here, because nothing else in `npm run docs` needs a compiler.
  const { runnerImport } = await import('vite')
  const { module } = await runnerImport(path.join(root, FOLDER, 'seeds.ts'), {
    ...{ root, configFile: false, logLevel: 'error' },
    resolve: { alias: { vitest: path.join(root, 'scripts/docs/no-vitest.mjs') } },
  })
  return module
}

/** The statements of each source document, whether they hold, and the tests that check them, from test/coverage/seeds.ts. */
export function renderCoverage({ SEEDS, countLine }) {
  return [
    `${countLine(SEEDS)}.`,
    '<!-- prettier-ignore-start -->',
    ...SEEDS.flatMap((seed) => [`## ${seed.number}: ${seed.title}`, renderSeed(seed)]),
    '<!-- prettier-ignore-end -->',
  ].join('\n\n')
}

function renderSeed({ number, rows }) {
  const sources = sourcesOf(number)
  return table(
    ['Line', 'Statement', 'In Escapement', 'Test'],
    rows.map((row) => [row.line, textOf(row.says), hereOf(row), shownBy(row, sources)]),
  )
}

/** Escapes tags in a statement. */
const textOf = (text) => text.replaceAll('<', '&lt;')

const hereOf = ({ differs }) => (differs === undefined ? 'works' : `**differs**: ${textOf(differs)}`)

function shownBy({ says, shownBy: named, notExecutable }, sources) {
  if (notExecutable !== undefined) return `not executable: ${textOf(notExecutable)}`
  if (named !== undefined) return `[${nameOf(named[0])}](../${named[0]}) “${textOf(named[1])}”`
  const quoted = says.replaceAll("'", "\\'")
  const { file } = sources.find(({ text }) => text.includes(says) || text.includes(quoted)) ?? sources.at(-1)
  return `[${nameOf(file)}](../${file})`
}

const nameOf = (file) => file.replace(/^test\//, '').replace(/(?:\.test)?\.ts$/, '')

/** The files that hold the rows of a seed, the index of them last. */
function sourcesOf(number) {
  const folder = `${FOLDER}/seed-${number}`
  const files = readdirSync(path.join(root, folder), { recursive: true })
    .filter((name) => name.endsWith('.ts'))
    .toSorted()
  return [...files.map((name) => `${folder}/${name}`), `${folder}.ts`].map((file) => ({
    file,
    text: readFileSync(path.join(root, file), 'utf8'),
  }))
}
