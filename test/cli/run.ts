import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { runCli } from '../../src/cli/program.ts'
import { instant } from '../../src/core/instant.ts'

export interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs a command line in this process, with its own streams and a clock that stands at 2026-11-15 12:00 UTC. */
export async function run(args: readonly string[], input: Readable | string = ''): Promise<Ran> {
  const stdout = new PassThrough()
  const stderr = new PassThrough()
  const outputs = Promise.all([text(stdout), text(stderr)])
  const code = await runCli(args, {
    stdin: typeof input === 'string' ? Readable.from([Buffer.from(input)]) : input,
    stdout,
    stderr,
    now: () => instant(Date.UTC(2026, 10, 15, 12)),
  })
  stdout.end()
  stderr.end()
  const [printed, complained] = await outputs
  return { code, stdout: printed, stderr: complained }
}
