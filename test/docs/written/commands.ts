import { existsSync } from 'node:fs'
import path from 'node:path'
import { ROOT } from '../../tooling/root.ts'
import { textOf, trackedFiles } from '../tracked-files.ts'
import { refusalOf, strangeWordOf } from './cli.ts'
import type { Block, InlineCode } from './markdown.ts'
import { wrongWith } from './requests.ts'
import { commandsIn, type ShellCommand } from './shell.ts'

/** Programs of others, and what stands for their part of a command. */
export const OTHER_PROGRAMS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['alias', 'cat', 'chmod', 'cp', 'date', 'echo', 'export', 'grep', 'head', 'kill', 'ln', 'printf', 'tar'].map(
      (name) => [name, 'is on every machine'] as const,
    ),
  ),
  ...{ jq: 'reads fields of our JSON', openssl: 'makes random keys' },
  ...{ pg_dump: "PostgreSQL's own", pg_restore: "PostgreSQL's own", createdb: "PostgreSQL's own" },
  docker: 'test/docs/deploy.test.ts reads the compose file and the Dockerfile',
  systemctl: 'test/docs/deploy.test.ts reads the unit',
  pip: 'installs packages of Python',
  ...{ journalctl: 'belongs to systemd', useradd: 'belongs to Linux', install: 'belongs to Linux' },
  sudo: 'another user types the command behind it, which is checked',
}

/** Those among them that call another program. */
const CALLS = new Set(['docker', 'sudo'])

interface Manifest {
  readonly scripts: Readonly<Record<string, string>>
}

const { scripts } = JSON.parse(textOf('package.json')) as Manifest

/** The commands of a block: of a transcript, what stands after its prompts. */
export function shellOf({ kind, text }: Pick<Block, 'kind' | 'text'>): string {
  if (kind !== 'console') return text
  return text
    .split('\n')
    .flatMap((line) => (line.startsWith('$ ') ? [line.slice(2)] : []))
    .join('\n')
}

/** What the commands of a document have left behind so far. */
export interface Told {
  readonly variables: Map<string, string>
  readonly files: Set<string>
}

/** For the first block of a document. */
export const nothingYet = (): Told => ({ variables: new Map(), files: new Set() })

/** What is wrong with the commands of a block; they leave what they set behind. */
export function wrongCommands(block: Pick<Block, 'kind' | 'text'>, so: Told): readonly string[] {
  return commandsIn(shellOf(block)).flatMap((command) => {
    for (const [name, value] of command.assigned) so.variables.set(name, value)
    const wrong = wrongCommand(command, so)
    return wrong === null ? [] : [`${command.words.join(' ')}: ${wrong}`]
  })
}

function wrongCommand({ words }: ShellCommand, so: Told): string | null {
  const [name, ...args] = words
  if (name === undefined) return null
  const lost = lostFile(words, so)
  if (lost !== null) return `there is no ${lost}`
  if (name === 'escapement') return refusalOf(args)
  if (name === 'npm') return wrongNpm(args)
  if (name === 'node') return wrongNode(args)
  if (name === 'curl') return wrongCurl(args, so)
  if (!Object.hasOwn(OTHER_PROGRAMS, name)) return `${name} is no program that documents may use`
  // `docker compose exec node-1 escapement doctor`, `sudo -u escapement escapement doctor`
  const inner = args.lastIndexOf('escapement')
  return !CALLS.has(name) || inner === -1 || inner === args.length - 1 ? null : refusalOf(args.slice(inner + 1))
}

/** A file of the repository that a command names and that is not there. */
function lostFile([name, ...args]: readonly string[], { files }: Told): string | null {
  const read = name === 'cp' ? args.slice(0, -1) : args
  if (name === 'cp') files.add(args.at(-1) ?? '')
  const named = read.filter((word) => /^(?:bench|deploy|docs|examples|scripts|test)\/\S+$/.test(word))
  // Whoever runs it has copied an example to where it is read.
  const isThere = (file: string): boolean =>
    files.has(file) || [file, `${file}.example`].some((one) => existsSync(path.join(ROOT, one)))
  return named.find((file) => !isThere(file)) ?? null
}

function wrongNode(args: readonly string[]): string | null {
  const file = args.find((word) => !word.startsWith('-'))
  return file === undefined || existsSync(path.join(ROOT, file)) ? null : `there is no ${file}`
}

/** `npm start` and `npm test` are scripts too; some are npm's own. */
function wrongNpm(args: readonly string[]): string | null {
  const given = args.filter((word) => word !== '--silent')
  const [verb = '', ...rest] = given
  if (verb === 'install' || verb === 'ci' || verb === 'pack') return null
  const [script = '', ...more] = verb === 'run' ? rest : given
  if (!Object.hasOwn(scripts, script)) return `there is no script ${script}`
  const passed = more[0] === '--' ? more.slice(1) : []
  // A file of tests is named by a part of its path.
  if (script === 'test' && passed[0]?.includes('/') && trackedFiles().some((file) => file.includes(passed[0] ?? '')))
    return null
  if (script !== 'start') return strangeOption(script, passed)
  return passed.length === 0 ? null : refusalOf(passed)
}

/** An option which nothing of a script's sources knows. */
function strangeOption(script: string, args: readonly string[]): string | null {
  const sources = sourcesOf(script)
  const [part] = args
  const words = args
    .map((word) => word.replaceAll(/[[\]]/g, ''))
    .filter((word) => word.startsWith('--') || word === part)
  const strange = words.find((word) => {
    const name = word.replace(/^--/, '').split('=')[0] ?? ''
    return !new RegExp(`(?:--|['"\`/ ,])${name}(?![\\w-])`).test(sources)
  })
  return strange === undefined ? null : `npm run ${script} knows no ${strange}`
}

const known = new Map<string, string>()

function sourcesOf(script: string): string {
  const text = known.get(script) ?? readSources(script)
  known.set(script, text)
  return text
}

function readSources(script: string): string {
  const program = /bootstrap\.mjs (\S+)/.exec(scripts[script] ?? '')?.[1] ?? ''
  const folders = [program === 'bench/run.mjs' ? 'bench/' : program.replace(/\.mjs$/, '/'), `test/${script}/`]
  return trackedFiles()
    .filter((file) => /\.m?[jt]s$/.test(file) && (file === program || folders.some((one) => file.startsWith(one))))
    .map(textOf)
    .join('\n')
}

const TAKES_VALUE = new Set(['-X', '--request', '-d', '--data', '-H', '--header', '-o', '--output'])

/** The server of documents: as they name it, and where it stands when nobody has said otherwise. */
const SERVER = /^(?:\$ESCAPEMENT_URL|https?:\/\/127\.0\.0\.1:7420)(?=\/)/

function wrongCurl(args: readonly string[], so: Told): string | null {
  const valuesOf = (...names: readonly string[]): readonly string[] =>
    args.flatMap((word, index) => (names.includes(args[index - 1] ?? '') ? [word] : []))
  const given = args.find((word, index) => !word.startsWith('-') && !TAKES_VALUE.has(args[index - 1] ?? ''))
  const url = (given ?? '').replace(/^\$\{?(\w+)\}?/, (whole, name: string) => so.variables.get(name) ?? whole)
  // What an agent is handed with each attempt.
  const target = url === '$CALLBACK_URL' ? '/api/v1/callbacks/$TOKEN' : url.replace(SERVER, '')
  if (!target.startsWith('/')) return `${url} is no address of a server`
  const [body = null] = valuesOf('-d', '--data')
  const method = valuesOf('-X', '--request')[0] ?? (body === null ? 'GET' : 'POST')
  const headers = valuesOf('-H', '--header').map((one) => one.toLowerCase())
  return wrongWith({ method, target, body, headers })
}

/** Names that look like commands and are none: those of spans, which docs/concepts/metrics.md lists. */
const SPANS = new Set(['admit', 'attempt', 'delivery'])

/** What is wrong with a command in a sentence, or null: whatever it takes may be left out, but not be another. */
export function wrongInline({ document, text }: InlineCode): string | null {
  const [name, ...args] = text.split(' ').filter((word, index) => index > 0 || !/^\w+=/.test(word))
  if (args.some((word) => /^<\w+>$/.test(word))) return null
  if (name === 'npm' && args.length > 0) return wrongNpm(args.map((word) => word.replace(/^"|"$/g, '')))
  if (name === 'node' && args.length > 0 && !args.includes('…')) return wrongNode(args)
  if (name === 'npx' && args[0] === 'vitest') return wrongNode(args.filter((word) => word.startsWith('test/')))
  if (name !== 'escapement' || args.length === 0) return null
  if (document === 'docs/concepts/metrics.md' && SPANS.has(args[0] ?? '')) return null
  return strangeWordOf(args)
}
