import { withBusy } from '../../domain/run/outcome.ts'
import type { AttemptReport, Usage } from '../executor.ts'
import { failureReport } from '../http/answer.ts'
import type { CommandOptions, CommandPreset } from './options.ts'
import type { ProcessEnd } from './process.ts'

type Fields = Readonly<Record<string, unknown>>

/** What one line of a program adds to its result. */
interface LinePart {
  /** A piece of the answer. */
  readonly text?: string
  /** The whole answer, in place of its pieces. */
  readonly answer?: unknown
  /** A step to show, such as a command that the program runs. */
  readonly step?: string
  readonly sessionId?: unknown
  readonly usage?: Usage
  readonly error?: string
  /** The program has said how it ended. */
  readonly isLast?: boolean
}

interface Preset {
  /** All arguments: those of the agent, and the session of the program to resume, if any. The prompt is its input. */
  readonly args: (own: readonly string[], session: string | null) => readonly string[]
  readonly read: (line: Fields) => LinePart
  readonly install: string
  /** The variable that holds the key; null: there is no usual one. */
  readonly keyVariable: string | null
}

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {})
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
const count = (value: unknown): number => (typeof value === 'number' && value >= 0 ? Math.round(value) : 0)

/** Reads the usage of a program, whose cached input may be part of the input or beside it. */
function usageOf(usage: unknown, cached: number, { beside = 0 }: { readonly beside?: number } = {}): Usage {
  const { input_tokens: input, output_tokens: output } = fieldsOf(usage)
  return {
    inputTokens: count(input) + beside,
    outputTokens: count(output),
    ...(cached === 0 ? {} : { cachedInputTokens: cached }),
  }
}

const costOf = (cost: unknown): Usage =>
  typeof cost === 'number' && cost >= 0 ? { costMicros: Math.round(cost * 1e6) } : {}

function readCodex(line: Fields): LinePart {
  const item = fieldsOf(line['item'])
  switch (line['type']) {
    case 'thread.started':
      return { sessionId: line['thread_id'] }
    case 'item.started':
      return item['type'] === 'command_execution' ? { step: textOf(item['command']) } : {}
    case 'item.completed':
      // Only the last message is the answer; earlier ones say what the program does next.
      return item['type'] === 'agent_message' ? { text: `${textOf(item['text'])}\n`, answer: item['text'] } : {}
    case 'turn.completed': {
      const { usage } = line
      return { usage: usageOf(usage, count(fieldsOf(usage)['cached_input_tokens'])), isLast: true }
    }
    case 'turn.failed':
      return { error: textOf(fieldsOf(line['error'])['message']), isLast: true }
    case 'error':
      return { error: textOf(line['message']) }
    default:
      return {}
  }
}

function readClaude(line: Fields): LinePart {
  const sessionId = line['session_id']
  switch (line['type']) {
    case 'assistant': {
      const { content } = fieldsOf(line['message'])
      const blocks = (Array.isArray(content) ? content : []).map(fieldsOf)
      const texts = blocks.filter(({ type }) => type === 'text').map(({ text }) => `${textOf(text)}\n`)
      const tools = blocks.filter(({ type }) => type === 'tool_use').map(({ name }) => textOf(name))
      return { sessionId, text: texts.join(''), ...(tools.length === 0 ? {} : { step: tools.join(', ') }) }
    }
    case 'result': {
      const { usage, result, subtype, total_cost_usd: cost, is_error: failed } = line
      const { cache_read_input_tokens: read, cache_creation_input_tokens: written } = fieldsOf(usage)
      const used = usageOf(usage, count(read), { beside: count(read) + count(written) })
      const isFine = failed !== true && subtype === 'success'
      return {
        sessionId,
        usage: { ...used, ...costOf(cost) },
        isLast: true,
        ...(isFine ? { answer: result } : { error: textOf(result) === '' ? textOf(subtype) : textOf(result) }),
      }
    }
    default:
      return { sessionId }
  }
}

function readGemini(line: Fields): LinePart {
  switch (line['type']) {
    case 'init':
      return { sessionId: line['session_id'] }
    case 'message':
      return line['role'] === 'assistant' ? { text: textOf(line['content']) } : {}
    case 'tool_use':
      return { step: textOf(line['tool_name']) }
    case 'result': {
      const { stats, status, error } = line
      const isFine = status === 'success'
      return {
        usage: usageOf(stats, count(fieldsOf(stats)['cached'])),
        isLast: true,
        ...(isFine ? {} : { error: textOf(fieldsOf(error)['message']) || textOf(status) }),
      }
    }
    default:
      return {}
  }
}

/** The lines of any program: `{"text"}`, `{"step"}`, and a last `{"output"}` or `{"error"}` with usage and session. */
function readJsonLine(line: Fields): LinePart {
  const { usage, error, text, step, output } = line
  const message = typeof error === 'string' ? error : textOf(fieldsOf(error)['message'])
  const cached = count(fieldsOf(usage)['cached_input_tokens'])
  return {
    sessionId: line['session_id'],
    text: textOf(text),
    ...(typeof step === 'string' ? { step } : {}),
    ...(isObject(usage) ? { usage: { ...usageOf(usage, cached), ...costOf(usage['cost']) } } : {}),
    ...(output === undefined ? {} : { answer: output, isLast: true }),
    ...((error ?? null) === null ? {} : { error: message === '' ? JSON.stringify(error) : message, isLast: true }),
  }
}

export const PRESETS: Readonly<Record<CommandPreset, Preset>> = {
  codex: {
    // The workspace of an agent need not be a repository.
    args: (own, session) => [
      ...['exec', '--json', '--skip-git-repo-check', ...own],
      ...(session === null ? [] : ['resume', session]),
      '-',
    ],
    read: readCodex,
    install: 'npm install -g @openai/codex',
    keyVariable: 'CODEX_API_KEY',
  },
  claude: {
    args: (own, session) => [
      ...['-p', '--output-format', 'stream-json', '--verbose', ...own],
      ...(session === null ? [] : ['--resume', session]),
    ],
    read: readClaude,
    install: 'npm install -g @anthropic-ai/claude-code',
    keyVariable: 'ANTHROPIC_API_KEY',
  },
  gemini: {
    args: (own, session) => [
      ...['--output-format', 'stream-json', ...own],
      ...(session === null ? [] : ['--resume', session]),
    ],
    read: readGemini,
    install: 'npm install -g @google/gemini-cli',
    keyVariable: 'GEMINI_API_KEY',
  },
  'json-lines': { args: (own) => own, read: readJsonLine, install: 'the command of its vendor', keyVariable: null },
}

/** A program that runs by a preset. */
type PresetCommand = Pick<CommandOptions, 'program' | 'output_bytes'> & { readonly preset: CommandPreset }

/** The result of a program so far. */
interface PresetResult {
  text: string
  answer: unknown
  sessionId: string
  usage: Usage
  error: string | null
  /** The program has said how it ended. */
  isOver: boolean
  isTooLarge: boolean
}

export interface PresetRun {
  /** Reads a piece of its output, which may end anywhere. */
  readonly push: (text: string) => void
  readonly report: (end: ProcessEnd) => AttemptReport
}

/** Reads the lines of a program as they come; `show` receives what is worth showing. */
export function createPresetRun(command: PresetCommand, show: (event: unknown) => void): PresetRun {
  const { read } = PRESETS[command.preset]
  const result: PresetResult = {
    ...{ text: '', answer: undefined, sessionId: '', usage: {}, error: null, isOver: false, isTooLarge: false },
  }
  let rest = ''
  const take = (line: string): void => {
    const part = partOf(line, read)
    if (part === null) return
    add(result, part, command.output_bytes)
    if (!result.isTooLarge && (part.text ?? '') !== '') show(part.text)
    if ((part.step ?? '') !== '') show({ step: part.step })
  }
  return {
    push: (piece) => {
      const lines = (rest + piece).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) take(line)
    },
    report: (end) => {
      take(rest)
      rest = ''
      const { usage, sessionId } = result
      return {
        ...reportOf(end, command, result),
        ...(Object.keys(usage).length === 0 ? {} : { usage }),
        ...(sessionId === '' ? {} : { reported: { sessionId } }),
      }
    },
  }
}

/** Programs also print warnings that are not JSON, and one that dies leaves half a line. */
function partOf(line: string, read: Preset['read']): LinePart | null {
  if (!line.trimStart().startsWith('{')) return null
  try {
    return read(fieldsOf(JSON.parse(line)))
  } catch {
    return null
  }
}

function add(result: PresetResult, part: LinePart, maxBytes: number): void {
  if (typeof part.sessionId === 'string' && part.sessionId !== '') result.sessionId = part.sessionId
  result.text += part.text ?? ''
  result.isTooLarge ||= Buffer.byteLength(result.text) > maxBytes
  if (result.isTooLarge) result.text = ''
  if (part.answer !== undefined) result.answer = part.answer
  result.usage = { ...result.usage, ...part.usage }
  // An error before the end may have been overcome, such as a lost connection.
  result.error = part.error ?? (part.isLast === true ? null : result.error)
  result.isOver ||= part.isLast === true
}

function reportOf(end: ProcessEnd, command: PresetCommand, result: PresetResult): AttemptReport {
  const { program } = command
  switch (end.kind) {
    case 'not_started':
      return refusal(
        `${program} is not installed on this server, or cannot be started: ${end.message}; install it with: ${PRESETS[command.preset].install}`,
      )
    case 'stopped':
      return { outcome: { kind: 'stopped' }, ...(result.text === '' ? {} : { output: result.text }) }
    case 'too_large':
      return failureReport('answer_too_large', `the output of ${program} is too large`)
    case 'exited':
      return reportOfExit(end, command, result)
  }
}

function reportOfExit(
  { code, signal, stderr }: Extract<ProcessEnd, { readonly kind: 'exited' }>,
  { program, preset, output_bytes: maxBytes }: PresetCommand,
  { text, answer, error, isOver, isTooLarge }: PresetResult,
): AttemptReport {
  const words = error ?? (code === 0 ? '' : stderr)
  if (SIGNED_OUT.test(words)) return refusal(signInHint(program, words, PRESETS[preset].keyVariable))
  if (isTooLarge) return failureReport('answer_too_large', `the answer of ${program} is larger than ${maxBytes} bytes`)
  if (error !== null) return failed(`${program} reported: ${error}`, error)
  const how = code === null ? `was terminated by ${signal ?? 'a signal'}` : `exited with code ${code}`
  if (code !== 0) return failed(`${program} ${how}${stderr === '' ? '' : `: ${stderr}`}`, stderr)
  if (!isOver) return failureReport('malformed_answer', `${program} ended without a result in the format of ${preset}`)
  return { outcome: { kind: 'succeeded' }, output: answer ?? (text === '' ? null : text) }
}

/** What the programs say when they have no valid key. */
const SIGNED_OUT =
  /not logged in|please run \/login|codex login|invalid api key|incorrect api key|401 unauthorized|authentication_error|set an auth method|api key not valid/i

/** What the programs say when their service is overloaded or a limit is reached. */
const BUSY = /rate.?limit|too many requests|\b429\b|\b529\b|overloaded|usage limit|quota exceeded|resource_exhausted/i

const refusal = (message: string): AttemptReport => failureReport('command_failed', message, { retryable: false })

function failed(message: string, words: string): AttemptReport {
  const report = failureReport('command_failed', message, BUSY.test(words) ? { retryable: true } : {})
  return { ...report, outcome: withBusy(report.outcome, BUSY.test(words)) }
}

const signInHint = (program: string, words: string, variable: string | null): string =>
  variable === null
    ? `${program} is not signed in: ${words}`
    : `${program} is not signed in: ${words}; set ${variable} in executor.env to {{secret:NAME}}`
