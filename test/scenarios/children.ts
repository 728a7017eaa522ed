import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import ts from 'typescript'
import { ROOT } from '../tooling/root.ts'
// Not a mixed import: that would run the child's program here.
import type { ChildLine, ChildTask } from './child.ts'
import { eventually } from './support.ts'

const ENTRY = 'test/scenarios/child.ts'

/** The program of the children, compiled: Node does not read TypeScript. */
export interface ChildProgram {
  readonly entry: string
  readonly remove: () => void
}

export function compileChildren(): ChildProgram {
  const files = withImports(ENTRY)
  const directory = mkdtempSync(path.join(os.tmpdir(), 'escapement-scenarios-'))
  for (const file of files) compile(file, directory)
  writeFileSync(path.join(directory, 'package.json'), '{ "type": "module" }\n')
  for (const shared of ['node_modules', 'migrations'])
    symlinkSync(path.join(ROOT, shared), path.join(directory, shared))
  return {
    entry: path.join(directory, ENTRY.replace(/\.ts$/, '.js')),
    remove: () => rmSync(directory, { recursive: true, force: true }),
  }
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
  const { outputText } = ts.transpileModule(textOf(file), {
    compilerOptions: {
      target: ts.ScriptTarget.ES2023,
      module: ts.ModuleKind.ESNext,
      verbatimModuleSyntax: true,
      rewriteRelativeImportExtensions: true,
    },
    fileName: file,
  })
  const to = path.join(directory, file.replace(/\.ts$/, '.js'))
  mkdirSync(path.dirname(to), { recursive: true })
  writeFileSync(to, outputText)
}

const textOf = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8')

type Began = Extract<ChildLine, { readonly said: 'began' }>

export interface Child {
  /** The attempts it has begun, in order. */
  readonly began: () => readonly Began[]
  /** Calls the library in the child. */
  readonly call: (group: string, method: string, ...args: readonly unknown[]) => Promise<unknown>
  readonly signal: (name: NodeJS.Signals) => void
  /** Resolves when it has ended by itself. */
  readonly ended: Promise<void>
  /** `kill -9`. */
  readonly kill: () => Promise<void>
}

const running = new Set<Child>()

/** Starts a node in a process of its own, and waits until it is ready. */
export async function startChild({ entry }: ChildProgram, task: ChildTask): Promise<Child> {
  const child = spawn(process.execPath, [entry, JSON.stringify(task)], { stdio: ['pipe', 'pipe', 'pipe'], cwd: '/' })
  const lines: ChildLine[] = []
  let errors = ''
  let isOver = false
  child.stderr.on('data', (chunk: Buffer) => void (errors += chunk.toString('utf8')))
  child.stdin.on('error', () => undefined)
  createInterface({ input: child.stdout }).on('line', (line) => void lines.push(JSON.parse(line) as ChildLine))
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => {
      isOver = true
      resolve()
    })
  })
  const find = <T>(pick: (line: ChildLine) => T | undefined): Promise<T> =>
    eventually(() => {
      const found = lines.map(pick).find((item) => item !== undefined)
      if (found !== undefined) return found
      throw new Error(isOver ? `the child has ended: ${errors}` : 'the child has not said it yet')
    })
  const node: Child = {
    began: () => lines.filter((line) => line.said === 'began'),
    call: orders(child, find),
    signal: (name) => void child.kill(name),
    ended,
    kill: async () => {
      child.kill('SIGKILL')
      await ended
      running.delete(node)
    },
  }
  running.add(node)
  await find((line) => (line.said === 'ready' ? true : undefined))
  return node
}

function orders(child: ChildProcess, find: <T>(pick: (line: ChildLine) => T | undefined) => Promise<T>): Child['call'] {
  let last = 0
  return async (group, method, ...args) => {
    const number = (last += 1)
    child.stdin?.write(`${JSON.stringify({ number, group, method, args })}\n`)
    const line = await find((each) => ('number' in each && each.number === number ? each : undefined))
    if (line.said === 'refused') throw new Error(`${group}.${method}: ${line.message}`)
    return line.answer
  }
}

/** For `afterAll`: nothing a test started lives on. */
export async function killAllChildren(): Promise<void> {
  await Promise.all([...running].map((child) => child.kill()))
}
