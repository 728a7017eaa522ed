import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { compileProgram, type CompiledProgram } from '../support/compile-program.ts'
// Not a mixed import: that would run the child's program here.
import type { ChildLine, ChildTask } from './child.ts'
import { eventually } from './support.ts'

const ENTRY = 'test/scenarios/child.ts'

/** The program of the children, compiled. */
export type ChildProgram = CompiledProgram

export const compileChildren = (): ChildProgram => compileProgram(ENTRY)

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
