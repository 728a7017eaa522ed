import { createInterface } from 'node:readline'
import type { Command } from 'commander'
import { manyLines, oneLine } from '../../cli/output/text.ts'
import { type CliContext, remote, type CliCall, UsageError } from '../../cli/remote/call.ts'
import { apiErrorText } from '../../cli/remote/refused.ts'
import { MAX_WAIT_SECONDS, printJsonLine } from '../../cli/remote/show.ts'
import { EXIT, type ExitCode, isTerminal } from '../../cli/terminal.ts'
import { EscapementError } from '../../client/errors.ts'
import type { RunView } from '../runs/schema.ts'
import {
  resolveRun,
  composeSchedule,
  type ComposedSchedule,
  createFromDraft,
  showComposed,
} from '../schedules/cli-draft.ts'
import { replyText } from '../runs/cli-show.ts'

/** Prints the output of the runs of a session while it streams. */
interface LiveOutput {
  /** The text printed of a run's last attempt; stops printing more of that run. */
  readonly printedOf: (runId: string) => string
  readonly end: () => Promise<void>
}

/**
 * Streams the output of a session. `before` clears the line before the first output of a run. With a key that may not read
 * events, replies are printed when they are complete.
 */
function streamOutput(
  call: CliCall,
  { key, before: clearLine }: { readonly key: string; readonly before: string },
): LiveOutput {
  const abort = new AbortController()
  const shown = new Map<string, { readonly attempt: unknown; readonly text: string }>()
  const answered = new Set<string>()
  const listen = async (): Promise<void> => {
    const stream = call.client.events({ session: key, kinds: ['run.output'] }, { signal: abort.signal })
    for await (const event of stream) {
      const words = event.kind === 'run.output' ? outputText(event.data) : ''
      if (event.kind !== 'run.output' || words === '' || answered.has(event.subject)) continue
      const { attempt } = event.data
      const known = shown.get(event.subject)
      const continues = known !== undefined && known.attempt === attempt
      shown.set(event.subject, { attempt, text: continues ? known.text + words : words })
      // The output of a failed attempt stays; the next attempt starts on a new line.
      const separator = known === undefined ? clearLine : continues ? '' : '\n'
      await call.print(separator + manyLines(words))
    }
  }
  const listening = listen().catch((error: unknown) => {
    if (!(error instanceof EscapementError)) throw error
  })
  return {
    printedOf: (runId) => {
      answered.add(runId)
      return shown.get(runId)?.text ?? ''
    },
    end: () => {
      abort.abort()
      return listening
    },
  }
}

/** The text in an output event; other values are not printed. */
function outputText({ output }: Readonly<Record<string, unknown>>): string {
  return Array.isArray(output) ? output.filter((piece) => typeof piece === 'string').join('') : ''
}

/** The schedule draft last shown in a chat and not yet created; null: none. */
interface PendingDraft {
  current: ComposedSchedule | null
}

const SCHEDULE_COMMAND = /^\/schedule(?:\s+(?<said>[^]*))?$/i
const CONFIRMATION = /^(?:--yes|yes|y)$/i

/** Whether an input line is the `/schedule` command. */
const isScheduleCommand = (text: string): boolean => SCHEDULE_COMMAND.test(text)

interface ScheduleCommandState {
  readonly key: string
  /** Clears the line before an answer. */
  readonly before: string
  readonly draft: PendingDraft
}

const SCHEDULE_TEXTS = {
  untimed: 'The schedule has no time. Type a time: /schedule every weekday at 9 in Berlin',
  then: 'Nothing was created yet. Type /schedule yes to create it.',
}

/**
 * `/schedule [when]` shows the last successful run as a schedule draft, `/schedule yes` creates the draft shown. Returns
 * false on an error.
 */
async function scheduleInChat(
  call: CliCall,
  { key, before: clearLine, draft }: ScheduleCommandState,
  text: string,
): Promise<boolean> {
  const said = SCHEDULE_COMMAND.exec(text)?.groups?.['said']?.trim() ?? ''
  try {
    if (CONFIRMATION.test(said)) {
      await call.print(clearLine)
      return await createShownSchedule(call, draft)
    }
    const choices = said === '' ? {} : { when: said }
    const composed = await composeSchedule(call, await resolveRun(call, key), { choices, given: {} })
    draft.current = composed.preview === null ? null : composed
    if (call.json) await printJsonLine(call, composed)
    else {
      await call.print(clearLine)
      await showComposed(call, composed, draft.current === null ? { ...SCHEDULE_TEXTS, then: '' } : SCHEDULE_TEXTS)
    }
    return true
  } catch (error) {
    const names = { '/when': '/schedule' }
    if (error instanceof EscapementError) await call.print(clearLine + apiErrorText(error, names, call.style))
    else if (error instanceof UsageError) await call.print(`${clearLine}${error.message}\n`)
    else throw error
    return false
  }
}

async function createShownSchedule(call: CliCall, draft: PendingDraft): Promise<boolean> {
  if (draft.current === null)
    throw new UsageError('There is no draft to create. Type a time first: /schedule every weekday at 9 in Berlin')
  const created = await createFromDraft(call, draft.current)
  draft.current = null
  if (call.json) await printJsonLine(call, created)
  else
    await call.print(
      `Created ${created.id}: ${oneLine(created.sentence)}. Next run: ${created.next_run_at ?? 'never'}.\n`,
    )
  return true
}

/** `escapement chat AGENT`: chats with an agent in the terminal. */
export function addChat(command: Command, cli: CliContext): void {
  command.option('--session <key>', 'session key (default agent:AGENT:cli:direct:USER)')
  remote<{ readonly session?: string }>(cli, command, {
    work: async (call, [agent = ''], { session }) => {
      // Reports an unknown agent before the first message.
      if (session === undefined) await call.client.agents.get(agent)
      return runChat(call, session ?? `agent:${agent}:cli:direct:${call.environment.user}`)
    },
  })
}

const CLEAR_LINE = '\r\u001b[K'

async function runChat(call: CliCall, key: string): Promise<ExitCode> {
  const { stdin, stdout } = call.terminal
  const isPerson = 'isTTY' in stdin && stdin.isTTY === true && isTerminal(stdout)
  return isPerson ? runInteractiveChat(call, key) : runScriptedChat(call, key)
}

/** Sends the lines of a script one after the other; the first error ends it. */
async function runScriptedChat(call: CliCall, key: string): Promise<ExitCode> {
  const chat = { key, shown: new Set<string>(), before: '', live: null, draft: { current: null } }
  let code: ExitCode = EXIT.ok
  for await (const line of createInterface({ input: call.terminal.stdin })) {
    if (line.trim() !== '' && !(await sendLine(call, chat, line.trim()))) code = EXIT.refused
  }
  return code
}

/** Sends lines as they are typed, also while a reply is pending; errors do not end the chat. */
async function runInteractiveChat(call: CliCall, key: string): Promise<ExitCode> {
  const { stdin, stdout } = call.terminal
  await call.print(
    call.style.dim(
      `${oneLine(key)}: type a message and press Enter. /stop cancels, /schedule creates a schedule, Ctrl-D quits.\n`,
    ),
  )
  const lines = createInterface({ input: stdin, output: stdout, prompt: call.style.cyan('> ') })
  const live = call.json ? null : streamOutput(call, { key, before: CLEAR_LINE })
  const chat = { key, shown: new Set<string>(), before: CLEAR_LINE, live, draft: { current: null } }
  const pending = new Set<Promise<void>>()
  let isOpen = true
  lines.once('close', () => (isOpen = false))
  // Replies may arrive after the input was closed; from Node 24 on, prompting then throws.
  const prompt = (keepsCursor = false): void => {
    if (isOpen) lines.prompt(keepsCursor)
  }
  prompt()
  for await (const line of lines) {
    prompt()
    if (line.trim() === '') continue
    const answered = sendLine(call, chat, line.trim())
      .catch((error: unknown) => call.print(CLEAR_LINE + refusalText(call, error)))
      .then(() => {
        pending.delete(answered)
        prompt(true)
      })
    pending.add(answered)
  }
  await Promise.all(pending)
  await live?.end()
  await call.print(CLEAR_LINE)
  return EXIT.ok
}

function refusalText({ style }: CliCall, error: unknown): string {
  if (!(error instanceof EscapementError)) throw error
  return apiErrorText(error, {}, style)
}

interface ChatState {
  readonly key: string
  /** Runs whose reply was printed; messages merged into one run share it. */
  readonly shown: Set<string>
  /** Clears the line before an answer. */
  readonly before: string
  /** The streamed output; null: not streamed. */
  readonly live: LiveOutput | null
  /** The schedule draft last shown and not created. */
  readonly draft: PendingDraft
}

/** Sends a message and prints the reply. Returns false on an error. */
async function sendLine(
  call: CliCall,
  { key, shown, before: clearLine, live, draft }: ChatState,
  text: string,
): Promise<boolean> {
  if (isScheduleCommand(text)) return scheduleInChat(call, { key, before: clearLine, draft }, text)
  const query = { wait: MAX_WAIT_SECONDS }
  const answer = await call.client.sessions.send(key, { text, sender: call.environment.user }, { query })
  if (call.json) {
    await printJsonLine(call, answer)
    return !('status' in answer) || answer.status === 'success'
  }
  const { dim } = call.style
  if ('stopped' in answer)
    await call.print(dim(`${clearLine}${answer.stopped} cancelled, ${answer.drained} removed from the queue\n`))
  else if ('run_id' in answer) await call.print(dim(`${clearLine}still ${answer.state}: ${answer.run_id}\n`))
  else if (!shown.has(answer.id)) {
    shown.add(answer.id)
    await call.print(`${remainingReply(call, answer, { before: clearLine, said: live?.printedOf(answer.id) ?? '' })}\n`)
    return answer.status === 'success'
  }
  return true
}

/** The rest of a reply after the streamed part, or the whole reply if it does not continue that part. */
function remainingReply(
  call: CliCall,
  run: RunView,
  shown: { readonly before: string; readonly said: string },
): string {
  const { before: clearLine, said } = shown
  const { output, status } = run
  if (said === '') return `${clearLine}${replyText(call, run)}`
  if (status === 'success' && typeof output === 'string' && output.startsWith(said))
    return manyLines(output.slice(said.length))
  return `\n${replyText(call, run)}`
}
