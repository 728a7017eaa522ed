// `npm run package-check`: tests the package as a user would install it. Packs it, runs publint and arethetypeswrong on it,
// installs it in an empty directory, compiles against its types, starts its server and sends a request. Needs a registry, so
// no test runs it. The exit code is 1 if there are findings.
import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { installedIn, nameAt, readCheckout, shippedPackages } from './security/packages.mjs'

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..')

/** Not installed as dependencies, because together they are 63 packages that nothing else needs. */
const READERS = [
  { package: 'publint@0.3.25', command: ['publint', '--strict'] },
  // The package has ES modules only; how `require` handles them is up to Node.
  { package: '@arethetypeswrong/cli@0.18.5', command: ['attw', '--no-emoji', '--profile', 'esm-only'] },
]

/** A program that imports every entry point; it is compiled with both common module resolutions. */
const PROGRAM = `import { createEscapement } from 'escapement'
import { createClient } from 'escapement/client'
import { startWorker } from 'escapement/worker'
const escapement = createEscapement({ agents: { clerk: (run) => JSON.stringify(run.payload) } })
const client = createClient({ url: 'http://127.0.0.1:7420', key: 'esc_' })
const names: Promise<readonly string[]> = client.schedules.list({}).then(({ items }) => items.map(({ name }) => name))
console.log(escapement, names, startWorker)
`
const RESOLUTIONS = [
  ['NodeNext', 'NodeNext'],
  ['bundler', 'ESNext'],
]

const work = mkdtempSync(path.join(tmpdir(), 'escapement-package-'))
// As root, the embedded PostgreSQL runs as another user, who needs access.
chmodSync(work, 0o755)
const findings = []
try {
  const archive = pack()
  for (const reader of READERS) attempt(reader.package, () => read(reader, archive))
  attempt('installs in an empty directory', () => install(archive))
  attempt('installs no development package', noDevelopment)
  for (const [resolution, module] of RESOLUTIONS)
    attempt(`types resolve: ${resolution}`, () => compile(resolution, module))
  await serve().then(
    (said) => report('ok     ', `serves: ${said}`),
    (error) => failed('serves', error),
  )
} finally {
  rmSync(work, { recursive: true, force: true })
}
report(findings.length === 0 ? 'ok     ' : 'FAILED ', `${findings.length} findings`)
process.exitCode = findings.length === 0 ? 0 : 1

function report(mark, text) {
  process.stdout.write(`${mark} ${text}\n`)
}

function failed(name, error) {
  findings.push(name)
  report('FAILED ', `${name}\n${error.stdout ?? ''}${error.stderr ?? ''}${error.message}`)
}

function attempt(name, look) {
  try {
    look()
    report('ok     ', name)
  } catch (error) {
    failed(name, error)
  }
}

function run(command, args, cwd = work) {
  return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}

/** `npm pack` builds first, with declarations. */
function pack() {
  const [packed] = JSON.parse(run('npm', ['pack', '--json', '--pack-destination', work], root))
  const stray = packed.files.filter(({ path: file }) => /(?<!\.d)\.tsx?$|\.map$|\.sha256$|\.tsbuildinfo$/.test(file))
  const size = `${megabytes(packed.size)} packed, ${megabytes(packed.unpackedSize)} unpacked, ${packed.files.length} files`
  if (stray.length === 0) report('ok     ', size)
  else failed('pack', new Error(`${stray.length} unexpected files, including ${stray[0].path}`))
  return path.join(work, packed.filename)
}

function megabytes(bytes) {
  return `${(bytes / 1_000_000).toFixed(1)} MB`
}

function read({ package: name, command }, archive) {
  const [program, ...options] = command
  run('npm', ['exec', '--yes', `--package=${name}`, '--', program, archive, ...options])
}

function install(archive) {
  writeFileSync(path.join(work, 'package.json'), '{ "private": true, "type": "module" }\n')
  run('npm', ['install', '--no-audit', '--no-fund', archive])
}

function noDevelopment() {
  const checkout = readCheckout(root)
  const shipped = new Set(shippedPackages(checkout).flatMap(({ name, builtIn }) => (builtIn ? [] : [name])))
  const leaked = installedIn(checkout.lock)
    .map(([place]) => nameAt(place))
    .filter((name) => !shipped.has(name) && existsSync(path.join(work, 'node_modules', name, 'package.json')))
  if (leaked.length > 0) throw new Error(leaked.join(', '))
}

function compile(resolution, module) {
  writeFileSync(path.join(work, 'program.ts'), PROGRAM)
  run(process.execPath, [
    path.join(root, 'node_modules/typescript-7/bin/tsc'),
    ...['--noEmit', '--strict', '--target', 'es2023', '--module', module, '--moduleResolution', resolution],
    ...['--types', 'node', '--typeRoots', path.join(root, 'node_modules/@types'), 'program.ts'],
  ])
}

/** Starts the installed command. */
async function serve() {
  const child = spawn(path.join(work, 'node_modules/.bin/escapement'), ['serve', '--port', '0', '--data', 'data'], {
    cwd: work,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const ended = new Promise((resolve) => child.once('close', resolve))
  try {
    const url = await new Promise((resolve, reject) => {
      let said = ''
      child.stdout.on('data', (text) => {
        said += text
        const [found] = /http:\/\/\S+/.exec(said) ?? []
        if (found !== undefined) resolve(found)
      })
      child.once('close', (code) => reject(new Error(`it ended with ${code}`)))
    })
    const { status } = await globalThis.fetch(`${url}/ready`)
    if (status !== 200) throw new Error(`/ready answered ${status}`)
    return `/ready answered ${status}, Node ${process.versions.node}`
  } finally {
    child.kill('SIGTERM')
    await ended
  }
}
