import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { runCli } from '../../src/cli/program.ts'
import { instant, type Instant } from '../../src/domain/instant.ts'

export interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** What is around a command; left out: nothing, and nobody sits there. */
export interface Around {
  readonly variables?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** How wide the terminal is of whoever sits there. */
  readonly columns?: number
  /** The clock; left out: it stands at 2026-11-15 12:00 UTC. */
  readonly now?: () => Instant
}

/** Runs a command line in this process, with its own streams. */
export async function run(
  args: readonly string[],
  input: Readable | string = '',
  { variables = {}, cwd, columns, now = () => instant(Date.UTC(2026, 10, 15, 12)) }: Around = {},
): Promise<Ran> {
  const screen = (): PassThrough =>
    columns === undefined ? new PassThrough() : Object.assign(new PassThrough(), { isTTY: true, columns })
  const stdout = screen()
  const stderr = screen()
  const outputs = Promise.all([text(stdout), text(stderr)])
  const code = await runCli(args, {
    stdin: typeof input === 'string' ? Readable.from([Buffer.from(input)]) : input,
    ...{ stdout, stderr, now, variables },
    ...(cwd === undefined ? {} : { cwd }),
  })
  stdout.end()
  stderr.end()
  const [printed, complained] = await outputs
  return { code, stdout: printed, stderr: complained }
}
