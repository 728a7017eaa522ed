// The server as users run it, with an agent that is a function of it. The tests start these to kill them.
import { existsSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { systemNow } from '../../src/cli/output/times.ts'
import { runServe } from '../../src/cli/serve.ts'
import type { Signal } from '../../src/cli/terminal.ts'
import type { Handler } from '../../src/executors/in-process/execute.ts'

const { values } = parseArgs({
  allowPositionals: true,
  options: { port: { type: 'string' }, data: { type: 'string' }, config: { type: 'string' } },
})

const textOf = (payload: unknown): string => {
  const { text, prompt } = (payload ?? {}) as { readonly text?: string; readonly prompt?: string }
  return text ?? prompt ?? ''
}

/** `hold` is held for ever, `gate` until there is a file of that name in the data directory; all else is done at once. */
const worker: Handler = async ({ payload }, { signal }) => {
  const text = textOf(payload)
  const isOver = (): boolean => text !== 'hold' && (text !== 'gate' || existsSync(path.join(values.data ?? '', 'gate')))
  while (!isOver()) await sleep(20, undefined, { signal })
  return `done by ${process.pid}`
}

const signals = {
  listen: (hear: (signal: Signal) => void): void => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR1'] as const) process.on(signal, () => hear(signal))
  },
}

const { stdin, stdout, stderr } = process
const code = await runServe({ stdin, stdout, stderr, now: systemNow, signals }, values, {
  ...{ version: '0.0.0-test', agents: { worker } },
})
process.exit(code)
