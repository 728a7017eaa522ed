import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { ROOT } from '../tooling/root.ts'
import { transpile } from './transpile.ts'

/** A program of this repository, compiled for child processes: Node does not read TypeScript. */
export interface CompiledProgram {
  readonly entry: string
  readonly remove: () => void
}

/** Compiles a file and everything it imports, as the sources are now. */
export function compileProgram(entry: string): CompiledProgram {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'escapement-program-'))
  compileInto(directory, entry)
  writeFileSync(path.join(directory, 'package.json'), '{ "type": "module", "version": "0.0.0-test" }\n')
  for (const shared of ['node_modules', 'migrations'])
    symlinkSync(path.join(ROOT, shared), path.join(directory, shared))
  return {
    entry: path.join(directory, entry.replace(/\.ts$/, '.js')),
    remove: () => rmSync(directory, { recursive: true, force: true }),
  }
}

/** Puts a file and everything it imports, compiled, into a directory. */
export function compileInto(directory: string, entry: string): void {
  for (const file of withImports(entry)) compile(file, directory)
}

function withImports(entry: string): ReadonlySet<string> {
  const found = new Set([entry])
  // A set that grows while it is walked is walked to its end.
  for (const file of found)
    for (const [, imported = ''] of textOf(file).matchAll(/(?:from|import\()\s*'(\.[^']*\.ts)'/g))
      found.add(path.posix.join(path.posix.dirname(file), imported))
  return found
}

function compile(file: string, directory: string): void {
  const to = path.join(directory, file.replace(/\.ts$/, '.js'))
  mkdirSync(path.dirname(to), { recursive: true })
  writeFileSync(to, transpile(file, textOf(file)))
}

const textOf = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8')
