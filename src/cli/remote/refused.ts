import type { EscapementError } from '../../client/errors.ts'
import { manyLines } from '../output/text.ts'
import type { Style } from '../output/style.ts'

/** Option names by JSON pointer. */
export type FieldNames = Readonly<Record<string, string>>

/** Formats an API error: each field error, and how to fix it. */
export function apiErrorText(error: EscapementError, names: FieldNames, style: Style): string {
  const title = error.title ?? (error.code === 'UNREACHABLE' ? 'Cannot reach the server' : 'Unexpected response')
  const lines =
    error.errors.length === 0
      ? [errorTextOnce(error, style.red(title))]
      : [
          `${style.red(title)}:`,
          ...error.errors.flatMap(({ pointer, message, allowed }) => [
            `  ${style.bold(fieldNameOf(pointer, names))} ${manyLines(message)}`,
            ...(allowed === undefined ? [] : [`    allowed: ${manyLines(allowed)}`]),
          ]),
        ]
  const advice = adviceOn(error)
  if (advice !== null) lines.push(`  ${advice}`)
  if (error.status !== null && error.status >= 500 && error.requestId !== null)
    lines.push(style.dim(`  request ${error.requestId}`))
  return `${lines.join('\n')}\n`
}

/** Leaves out the title "Not found" where the message already says it. */
const errorTextOnce = ({ code, message }: EscapementError, title: string): string =>
  code === 'NOT_FOUND' && message.startsWith('There is no') ? manyLines(message) : `${title}: ${manyLines(message)}`

/** The option of a JSON pointer, or the field path where there is no option. */
function fieldNameOf(pointer: string, names: FieldNames): string {
  const plain = pointer.slice(1).split('/').join('.').replaceAll('~1', '/').replaceAll('~0', '~')
  const top = `/${pointer.split('/')[1] ?? ''}`
  const option = names[pointer] ?? names[top]
  if (option === undefined) return plain === '' ? 'the input' : plain
  return names[pointer] === undefined ? `${option} (${plain})` : option
}

/** How to fix an error, where its message does not say it. */
const ADVICE: Readonly<Partial<Record<EscapementError['code'], string>>> = {
  UNREACHABLE: 'Start the server with escapement serve, or select another one with --url or --data.',
  BAD_ANSWER: 'Check that the address is an Escapement server, and that no proxy answers in its place.',
  UNAUTHENTICATED: 'Set ESCAPEMENT_KEY to a valid key of this server, or pass its data directory with --data.',
  FORBIDDEN: 'Use a key with this permission; escapement whoami lists the permissions of the current key.',
  STALE_VERSION: 'It was changed in the meantime. Read it again, and retry with its new --if-version.',
  NOT_RETRYABLE: 'To repeat a successful run, add --force.',
  MISDIRECTED: 'Add the host to server.allowed_hosts, or set server.public_url.',
}

/** The command group that lists the ids of a resource. */
const LISTS: Readonly<Record<string, string>> = {
  ...{ schedule: 'schedules', run: 'runs', task: 'tasks', session: 'sessions', agent: 'agents', target: 'targets' },
  ...{
    channel: 'channels',
    delivery: 'deliveries',
    alert: 'alerts',
    budget: 'budgets',
    secret: 'secrets',
    key: 'keys',
  },
}

function listHint(message: string): string | null {
  const list = LISTS[/^There is no (\w+) /.exec(message)?.[1] ?? '']
  return list === undefined ? null : `List the ids with: escapement ${list} list`
}

function adviceOn({ code, message, retryAfterMs, runId }: EscapementError): string | null {
  const advice = ADVICE[code] ?? (code === 'NOT_FOUND' ? listHint(message) : null)
  if (advice !== null) return advice
  if (retryAfterMs !== null) return `Try again in ${Math.ceil(retryAfterMs / 1_000)} s.`
  return runId === null ? null : `Show the run with: escapement runs get ${runId}`
}
