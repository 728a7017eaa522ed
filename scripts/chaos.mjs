// `npm run chaos [-- --minutes 3 --seed N]`: nodes and a server of their own, under load and faults, then an audit.
//
// The program is written in TypeScript beside the tests. It is compiled, with the sources it uses, into a directory of
// its own, so that the processes it starts run exactly these sources whatever becomes of the checkout meanwhile.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import ts from 'typescript'

// Without a handler Node opens its debugger on this signal.
process.on('SIGUSR1', () => {})

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..')
const ENTRIES = ['test/chaos/main.ts', 'test/chaos/node-process.ts']

const program = mkdtempSync(path.join(os.tmpdir(), 'escapement-chaos-program-'))
process.on('exit', () => rmSync(program, { recursive: true, force: true }))
for (const file of withImports(ENTRIES)) compile(file)
writeFileSync(path.join(program, 'package.json'), readFileSync(path.join(root, 'package.json')))
cpSync(path.join(root, 'migrations'), path.join(program, 'migrations'), { recursive: true })
for (const name of ['node_modules', 'test/support/postgres-15'])
  symlinkSync(path.join(root, name), path.join(program, name))

const { main } = await import(pathToFileURL(path.join(program, 'test/chaos/main.js')).href)
// Whatever a failure has left open must not keep it alive.
process.exit(await main(process.argv.slice(2)))

function withImports(entries) {
  const found = new Set(entries)
  // A set that grows while it is walked is walked to its end.
  for (const file of found)
    for (const [, imported] of textOf(file).matchAll(/from '(\.[^']*\.ts)'/g))
      found.add(path.posix.join(path.posix.dirname(file), imported))
  return found
}

function compile(file) {
  const { outputText } = ts.transpileModule(textOf(file), {
    compilerOptions: {
      target: ts.ScriptTarget.ES2023,
      module: ts.ModuleKind.ESNext,
      verbatimModuleSyntax: true,
      rewriteRelativeImportExtensions: true,
      inlineSourceMap: true,
      sourceRoot: root,
    },
    fileName: file,
  })
  const to = path.join(program, file.replace(/\.ts$/, '.js'))
  mkdirSync(path.dirname(to), { recursive: true })
  writeFileSync(to, outputText)
}

function textOf(file) {
  return readFileSync(path.join(root, file), 'utf8')
}
