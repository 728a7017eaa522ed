import { createInterface } from 'node:readline'
import type { Escapement, Settings } from '../../src/library/escapement.ts'
import type { Handler } from '../../src/executors/in-process/execute.ts'
import { createEscapement, drainOnSignals } from '../../src/index.ts'

// A node in a process of its own, told what to do by JSON lines. The tests start these to kill them.

/** What it is, in its first argument. */
export interface ChildTask extends Settings {
  readonly url: string
  /** How long its function works, in ms. What is called `hold` it holds for ever. */
  readonly workMs: number
}

/** A call of the library: `{ group: 'sessions', method: 'send', args: […] }`. */
export interface ChildOrder {
  readonly number: number
  readonly group: string
  readonly method: string
  readonly args: readonly unknown[]
}

export type ChildLine =
  | { readonly said: 'ready' }
  | { readonly said: 'answered'; readonly number: number; readonly answer: unknown }
  | { readonly said: 'refused'; readonly number: number; readonly message: string }
  | { readonly said: 'began'; readonly runId: string; readonly attempt: number; readonly label: string }

const say = (line: ChildLine): void => void process.stdout.write(`${JSON.stringify(line)}\n`)

const labelOf = (payload: unknown): string => {
  const { text, prompt } = payload as { readonly text?: string; readonly prompt?: string }
  return text ?? prompt ?? ''
}

const worker =
  (workMs: number): Handler =>
  (attempt, { signal }) => {
    const label = labelOf(attempt.payload)
    say({ said: 'began', runId: attempt.runId, attempt: attempt.attempt, label })
    return new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('told to stop')), { once: true })
      if (label !== 'hold') setTimeout(() => resolve('done by a child'), workMs)
    })
  }

async function obey(node: Escapement, { number, group, method, args }: ChildOrder): Promise<void> {
  try {
    const calls = node[group as keyof Escapement] as unknown as Record<string, (...given: unknown[]) => unknown>
    const answer = await calls[method]?.(...args)
    say({ said: 'answered', number, answer: answer ?? null })
  } catch (error) {
    say({ said: 'refused', number, message: String(error) })
  }
}

const { url, workMs, ...settings } = JSON.parse(process.argv[2] ?? '') as ChildTask
const node = createEscapement({ ...settings, database: { url, pool: 4 }, agents: { worker: worker(workMs) } })
drainOnSignals(node)
await node.start()
say({ said: 'ready' })
for await (const line of createInterface({ input: process.stdin })) void obey(node, JSON.parse(line) as ChildOrder)
// Its parent is gone.
process.exit(0)
