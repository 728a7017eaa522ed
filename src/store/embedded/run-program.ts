import { spawn } from 'node:child_process'
import { DatabaseError } from '../database-error.ts'
import { type Account } from './account.ts'
import { codeOf } from './files.ts'

/** What the server's programs get to see of the environment: nothing of ours, and messages in one language. */
export const PROGRAM_ENVIRONMENT: Readonly<Record<string, string>> = {
  PATH: '/usr/bin:/bin',
  LC_ALL: 'C',
  TZ: 'UTC',
}

export const asAccount = (account: Account | undefined): object => account ?? {}

/** Runs one of PostgreSQL's programs to its end and answers its exit code and what it wrote. */
export function runProgram(
  program: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly account: Account | undefined },
): Promise<{ readonly code: number | null; readonly output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: options.cwd,
      env: PROGRAM_ENVIRONMENT,
      stdio: ['ignore', 'pipe', 'pipe'],
      ...asAccount(options.account),
    })
    let output = ''
    const collect = (chunk: Buffer): void => void (output = `${output}${chunk.toString('utf8')}`.slice(-8192))
    child.stdout.on('data', collect)
    child.stderr.on('data', collect)
    child.once('error', (error) => reject(refuseProgram(error, program)))
    child.once('close', (code) => resolve({ code, output }))
  })
}

/** Why a program could not even be started. */
export function refuseProgram(error: unknown, program: string): DatabaseError {
  const code = codeOf(error)
  // The file is there, we have looked: what is not there is the loader it asks for, as on a Linux without glibc.
  if (code === 'ENOENT')
    return new DatabaseError('platform_unsupported', { detail: `${program} cannot run here`, cause: error })
  const detail =
    code === 'EPERM'
      ? 'this process is root, but may not start another as an ordinary user'
      : `${program} cannot be started (${code ?? String(error)})`
  return new DatabaseError('server_failed', { detail, cause: error })
}
