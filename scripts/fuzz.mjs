// `npm run fuzz [-- part…] [--seconds N] [--seed N] [--replay file]`: sends invalid and unexpected input to every parser and
// every operation of the API, and checks that nothing crashes, hangs or returns a wrong result.
//
// Each part runs in a separate process, so that crashes and hangs are detected from outside.
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { readOptions, USAGE } from './fuzz/options.mjs'
import { keepFinding, lastWord, lineOf } from './fuzz/report.mjs'
import { endAll, tryPart } from './fuzz/watch.mjs'

// Without a handler, Node opens its debugger on this signal.
process.on('SIGUSR1', () => {})

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..')
const FOUND = path.join(root, '.fuzz')
const CORPUS = path.join(root, 'test/fuzz/corpus')

const print = (line) => process.stdout.write(`${line}\n`)

for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => {
    void endAll().finally(() => {
      print('interrupted')
      process.exit(1)
    })
  })

process.exitCode = await main(process.argv.slice(2))

async function main(args) {
  const options = readOptions(args)
  if (options.help) {
    print(USAGE)
    return 0
  }
  if ('wrong' in options) {
    process.stderr.write(`${options.wrong}\n${USAGE}\n`)
    return 2
  }
  const replay = options.replay === null ? null : path.resolve(options.replay)
  print(replay === null ? `seed ${options.seed}` : `replaying ${replay}`)
  const ends = []
  for (const part of options.parts) {
    const seconds = options.seconds ?? part.seconds
    if (replay === null) print(`${part.name}: fuzzing for ${seconds} s`)
    const end = await tryPart({ root, part, seconds, seed: options.seed, replay })
    ends.push(end)
    print(lineOf(part, end))
    tellFindings(end, replay)
    if (options.grow) grow(part, end)
  }
  print(lastWord(ends))
  return ends.every(({ findings }) => findings.length === 0) ? 0 : 1
}

function tellFindings({ findings }, replay) {
  for (const finding of findings) {
    const file = replay ?? path.relative(process.cwd(), keepFinding(FOUND, finding))
    print(`  ${finding.kind} in ${finding.where}: ${finding.message}`)
    print(`    npm run fuzz -- ${finding.part} --replay ${file}`)
  }
}

/** Stores inputs of new kinds, all of one run in one file. */
function grow(part, { fresh = [] }) {
  if (fresh.length === 0) return
  const folder = path.join(CORPUS, part.name)
  mkdirSync(folder, { recursive: true })
  const file = path.join(folder, 'grown.json')
  writeFileSync(file, `${JSON.stringify(fresh, null, 1)}\n`)
  print(`  ${fresh.length} inputs of new kinds were added to ${path.relative(process.cwd(), file)}`)
}
