import type { EscapementError } from '../../client/errors.ts'
import { manyLines } from '../output/text.ts'
import type { Style } from '../output/style.ts'

/** What the fields are called on the command line, by JSON pointer. */
export type FieldNames = Readonly<Record<string, string>>

/** Says what was refused, field by field, and what to do about it. */
export function refusedText(error: EscapementError, names: FieldNames, style: Style): string {
  const title = error.title ?? (error.code === 'UNREACHABLE' ? 'Not reached' : 'Not understood')
  const lines =
    error.errors.length === 0
      ? [saidOnce(error, style.red(title))]
      : [
          `${style.red(title)}:`,
          ...error.errors.flatMap(({ pointer, message, allowed }) => [
            `  ${style.bold(nameOf(pointer, names))} ${manyLines(message)}`,
            ...(allowed === undefined ? [] : [`    allowed: ${manyLines(allowed)}`]),
          ]),
        ]
  const advice = adviceOn(error)
  if (advice !== null) lines.push(`  ${advice}`)
  if (error.status !== null && error.status >= 500 && error.requestId !== null)
    lines.push(style.dim(`  request ${error.requestId}`))
  return `${lines.join('\n')}\n`
}

/** What is not there is named by the sentence alone: a title in front would say it twice. */
const saidOnce = ({ code, message }: EscapementError, title: string): string =>
  code === 'NOT_FOUND' && message.startsWith('There is no') ? manyLines(message) : `${title}: ${manyLines(message)}`

/** `/retry_policy/base_ms` is `--retry-policy`'s field, or `retry_policy.base_ms` where no option is for it. */
function nameOf(pointer: string, names: FieldNames): string {
  const plain = pointer.slice(1).split('/').join('.').replaceAll('~1', '/').replaceAll('~0', '~')
  const top = `/${pointer.split('/')[1] ?? ''}`
  const option = names[pointer] ?? names[top]
  if (option === undefined) return plain === '' ? 'the input' : plain
  return names[pointer] === undefined ? `${option} (${plain})` : option
}

/** What to do about a refusal, where there is something beyond what it says itself. */
const ADVICE: Readonly<Partial<Record<EscapementError['code'], string>>> = {
  UNREACHABLE: 'Is it running? Start it with escapement serve, or name another with --url or --data.',
  BAD_ANSWER: 'Is that an Escapement server, and is nothing in between that answers in its place?',
  UNAUTHENTICATED: 'Set ESCAPEMENT_KEY to a good key of this server, or name its data directory with --data.',
  FORBIDDEN: 'Use a key that may do this; escapement whoami says what this one may.',
  STALE_VERSION: 'Somebody has changed it since. Look at it again, and repeat with its new --if-version.',
  NOT_RETRYABLE: 'What succeeded is repeated with --force.',
  MISDIRECTED: 'Name the host in server.allowed_hosts or server.public_url of the server.',
}

/** Where the ids of a kind of things are listed. */
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

function listOf(message: string): string | null {
  const list = LISTS[/^There is no (\w+) /.exec(message)?.[1] ?? '']
  return list === undefined ? null : `escapement ${list} list shows which there are, with their ids.`
}

function adviceOn({ code, message, retryAfterMs, runId }: EscapementError): string | null {
  const advice = ADVICE[code] ?? (code === 'NOT_FOUND' ? listOf(message) : null)
  if (advice !== null) return advice
  if (retryAfterMs !== null) return `Try again in ${Math.ceil(retryAfterMs / 1_000)} s.`
  return runId === null ? null : `escapement runs get ${runId} shows the record of it.`
}
