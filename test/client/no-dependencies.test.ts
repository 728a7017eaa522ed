import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import ts from 'typescript'
import { afterAll, describe, expect, it } from 'vitest'
import { textOf } from '../docs/tracked-files.ts'
import { ROOT } from '../tooling/root.ts'

const directory = mkdtempSync(path.join(os.tmpdir(), 'escapement-client-'))

afterAll(() => rmSync(directory, { recursive: true, force: true }))

/** The folder of the client alone, compiled, in a place where no package can be found. */
function compileAlone(): void {
  const sources = path.join(ROOT, 'src/client')
  writeFileSync(path.join(directory, 'package.json'), '{ "type": "module" }')
  mkdirSync(path.join(directory, 'worker'))
  const files = readdirSync(sources, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
  for (const file of files) {
    const { outputText } = ts.transpileModule(readFileSync(path.join(sources, file), 'utf8'), {
      compilerOptions: {
        target: ts.ScriptTarget.ES2023,
        module: ts.ModuleKind.ESNext,
        verbatimModuleSyntax: true,
        rewriteRelativeImportExtensions: true,
      },
    })
    writeFileSync(path.join(directory, file.replace(/\.ts$/, '.js')), outputText)
  }
}

describe('escapement/client and escapement/worker', () => {
  it('loads and works with nothing but its own files', () => {
    compileAlone()
    const program = [
      "import { createClient, EscapementError } from './index.js'",
      "import { startWorker } from './worker/index.js'",
      'const answer = { items: [], next_cursor: null }',
      'const fetch = async () => new Response(JSON.stringify(answer))',
      "const client = createClient({ url: 'http://there', key: 'k', fetch })",
      'console.log(JSON.stringify(await client.schedules.list()), typeof client.events, EscapementError.name, typeof startWorker)',
    ].join('\n')
    writeFileSync(path.join(directory, 'main.js'), program)
    const { status, stdout, stderr } = spawnSync(process.execPath, [path.join(directory, 'main.js')], {
      encoding: 'utf8',
    })
    expect({ status, stdout, stderr }).toEqual({
      status: 0,
      stdout: '{"items":[],"next_cursor":null} function EscapementError function\n',
      stderr: '',
    })
  })

  it('imports nothing at run time but its own files, and nothing of Node', () => {
    const imported = readdirSync(directory, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.js') && file !== 'main.js')
      .flatMap((file) => [
        ...readFileSync(path.join(directory, file), 'utf8').matchAll(/(?:from|import)\s*\(?["']([^"']+)["']/g),
      ])
      .map(([, name = '']) => name)
    expect(imported.length).toBeGreaterThan(5)
    expect(imported.filter((name) => !/^\.\.?\/[\w-]+\.js$/.test(name))).toEqual([])
  })

  it('is an entry of the package, with types', () => {
    const { exports } = JSON.parse(textOf('package.json')) as { readonly exports: Readonly<Record<string, unknown>> }
    expect(exports['./client']).toEqual({ types: './dist/client/index.d.ts', default: './dist/client/index.js' })
  })
})
