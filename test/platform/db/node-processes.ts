import { type ChildProcess, spawn } from 'node:child_process'
import { inject } from 'vitest'
// Not a mixed import: that would run the child's program here.
import type { NodeLine, NodeTask } from '../../support/node-process.ts'
import { entryOf } from '../../support/small-program.ts'

export interface NodeProcess {
  readonly child: ChildProcess
  /** The first line of this kind, said already or to come. Fails if the process ends without it. */
  readonly line: <K extends NodeLine['said']>(said: K) => Promise<Extract<NodeLine, { readonly said: K }>>
  /** The first piece of news of this kind. */
  readonly news: (kind: string) => Promise<string>
  readonly leave: () => Promise<string>
  readonly kill: () => Promise<void>
  readonly ended: Promise<void>
}

export interface NodeProcessOptions {
  /** Who runs it; for root only. */
  readonly uid?: number
  /** Which copy of the program. */
  readonly program?: string
}

const running = new Set<NodeProcess>()

/** Starts a child process on the compiled program. */
export function startNode(task: NodeTask, options: NodeProcessOptions = {}): NodeProcess {
  const child = spawn(process.execPath, [entryOf(options.program ?? inject('smallProgram')), JSON.stringify(task)], {
    stdio: ['pipe', 'pipe', 'pipe'],
    cwd: '/',
    ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.uid }),
  })
  const lines: NodeLine[] = []
  const waiting = new Set<() => void>()
  let text = ''
  let errors = ''
  let isOver = false
  const wake = (): void => {
    for (const check of [...waiting]) check()
  }
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString('utf8')
    const whole = text.split('\n')
    text = whole.pop() ?? ''
    lines.push(...whole.map((line) => JSON.parse(line) as NodeLine))
    wake()
  })
  child.stderr.on('data', (chunk: Buffer) => void (errors += chunk.toString('utf8')))
  child.stdin.on('error', () => undefined)
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => {
      isOver = true
      running.delete(node)
      wake()
      resolve()
    })
  })
  const find = <T>(pick: (line: NodeLine) => T | undefined, what: string): Promise<T> =>
    new Promise((resolve, reject) => {
      const check = (): void => {
        const found = lines.map(pick).find((item) => item !== undefined)
        if (found === undefined && !isOver) return
        waiting.delete(check)
        if (found === undefined) reject(new Error(`ended without ${what}: ${JSON.stringify(lines)} ${errors}`))
        else resolve(found)
      }
      waiting.add(check)
      check()
    })
  type Line<K> = Extract<NodeLine, { readonly said: K }>
  const line = <K extends NodeLine['said']>(said: K): Promise<Line<K>> =>
    find((each) => (each.said === said ? (each as Line<K>) : undefined), said)
  const node: NodeProcess = {
    child,
    line,
    ended,
    news: (kind) =>
      find((each) => (each.said === 'news' && each.news.kind === kind ? each.news.message : undefined), kind),
    leave: async () => {
      child.stdin.write('leave\n')
      const { how } = await line('left')
      await ended
      return how
    },
    kill: async () => {
      child.kill('SIGKILL')
      await ended
    },
  }
  running.add(node)
  return node
}

/** For `afterEach`: nothing a test started lives on. */
export async function killAllNodes(): Promise<void> {
  await Promise.all([...running].map((node) => node.kill()))
}
