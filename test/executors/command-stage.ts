import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseCommandOptions, type CommandOptions } from '../../src/executors/command/options.ts'
import { createCommandExecutor } from '../../src/executors/command/execute.ts'
import { readResponseResult } from '../../src/features/runs/result-input.ts'
import type { Behaviour, ExecutorStage } from './suite.ts'

/** Reads options as an agent brings them. */
export function commandOptions(given: Readonly<Record<string, unknown>>): CommandOptions {
  const read = parseCommandOptions('executor', { kind: 'command', ...given })
  if (!read.ok) throw new Error(JSON.stringify(read.flaws))
  return read.value
}

/** A program that does as its argument says. It is the shell, started as the program it is: nobody else reads its lines. */
const SHELL = '/bin/sh'

const LINES: Readonly<Record<Behaviour['kind'], (behaviour: Behaviour) => string>> = {
  succeed: (behaviour) => (behaviour.kind === 'succeed' ? saying(behaviour.output) : ''),
  fail: (behaviour) =>
    behaviour.kind === 'fail'
      ? `${saying({ status: 'failed', error_message: behaviour.message, retryable: behaviour.retryable })}; exit 3`
      : '',
  use: (behaviour) => {
    if (behaviour.kind !== 'use') return ''
    const { inputTokens, outputTokens, contextWindow, costMicros = 0 } = behaviour.usage
    const tokens = { input_tokens: inputTokens, output_tokens: outputTokens, context_window: contextWindow }
    return saying({ status: 'success', usage: { ...tokens, cost: costMicros / 1e6 } })
  },
  hang: () => 'echo begun >> begun; trap "echo dropped >> dropped; exit 1" TERM; while :; do sleep 0.02; done',
  flood: () => 'while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done',
  garble: () => '',
  break: () => '',
}

const saying = (value: unknown): string =>
  value === null ? ':' : `printf %s '${typeof value === 'string' ? value : JSON.stringify(value)}'`

/** A program of this machine. */
export function commandStage(count: (file: string) => number): Promise<ExecutorStage> {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'escapement-command-'))
  let lines = ':'
  const executor = createCommandExecutor({
    optionsOf: () =>
      Promise.resolve(
        commandOptions({ program: SHELL, args: ['-c', lines], cwd: directory, env: { PATH: '/usr/bin:/bin' } }),
      ),
    rules: () => ({ enabled: true, programs: [SHELL], directories: [directory] }),
    ...{ account: null, readResult: readResponseResult },
    lastSessionOf: () => Promise.resolve(null),
  })
  return Promise.resolve({
    ...{ executor, payload: null },
    behave: (behaviour) => {
      lines = LINES[behaviour.kind](behaviour)
    },
    begun: () => count(path.join(directory, 'begun')),
    dropped: () => count(path.join(directory, 'dropped')),
    close: () => {
      rmSync(directory, { recursive: true, force: true })
      return Promise.resolve()
    },
  })
}
