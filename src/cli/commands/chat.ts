import { createInterface } from 'node:readline'
import type { Command } from 'commander'
import { EscapementError } from '../../client/errors.ts'
import type { RunView } from '../../features/runs/schema.ts'
import { manyLines, oneLine } from '../output/text.ts'
import { refusedText } from '../remote/refused.ts'
import { printJsonLine } from '../remote/show.ts'
import { remote, type Desk, type Talk } from '../remote/talk.ts'
import { EXIT, isTerminal, type ExitCode } from '../terminal.ts'
import { showLive, type LiveWords } from './chat-live.ts'
import { replyText } from './sessions.ts'
import { makesSchedule, scheduleInChat, type Proposed } from './chat-schedule.ts'
import { LONGEST_WAIT_SECONDS } from './waiting.ts'

/** `escapement chat AGENT`: a conversation from the terminal. */
export function addChat(command: Command, desk: Desk): void {
  command.option('--session <key>', 'session key (default agent:AGENT:cli:direct:USER)')
  remote<{ readonly session?: string }>(desk, command, {
    work: async (talk, [agent = ''], { session }) => {
      // An agent that is not there is told before anybody has typed a word.
      if (session === undefined) await talk.client.agents.get(agent)
      return converse(talk, session ?? `agent:${agent}:cli:direct:${talk.environment.user}`)
    },
  })
}

const CLEAR_LINE = '\r\u001b[K'

async function converse(talk: Talk, key: string): Promise<ExitCode> {
  const { stdin, stdout } = talk.terminal
  const isPerson = 'isTTY' in stdin && stdin.isTTY === true && isTerminal(stdout)
  return isPerson ? converseWithPerson(talk, key) : converseWithScript(talk, key)
}

/** One answer after the other; the first refusal ends it. */
async function converseWithScript(talk: Talk, key: string): Promise<ExitCode> {
  const chat = { key, shown: new Set<string>(), before: '', live: null, proposed: { of: null } }
  let code: ExitCode = EXIT.ok
  for await (const line of createInterface({ input: talk.terminal.stdin })) {
    if (line.trim() !== '' && !(await say(talk, chat, line.trim()))) code = EXIT.refused
  }
  return code
}

/** A person may go on typing while an answer is awaited, also to stop what goes on, and is not sent away by a refusal. */
async function converseWithPerson(talk: Talk, key: string): Promise<ExitCode> {
  const { stdin, stdout } = talk.terminal
  await talk.print(
    talk.style.dim(`${oneLine(key)}: type, and press enter; /stop stops, /schedule repeats, Ctrl-D ends.\n`),
  )
  const lines = createInterface({ input: stdin, output: stdout, prompt: talk.style.cyan('> ') })
  const live = talk.json ? null : showLive(talk, { key, before: CLEAR_LINE })
  const chat = { key, shown: new Set<string>(), before: CLEAR_LINE, live, proposed: { of: null } }
  const pending = new Set<Promise<void>>()
  let isOpen = true
  lines.once('close', () => (isOpen = false))
  // The last lines and answers come when the person has gone already; from Node 24 on it throws to ask them for more.
  const prompt = (keepsCursor = false): void => {
    if (isOpen) lines.prompt(keepsCursor)
  }
  prompt()
  for await (const line of lines) {
    prompt()
    if (line.trim() === '') continue
    const answered = say(talk, chat, line.trim())
      .catch((error: unknown) => talk.print(CLEAR_LINE + refusalText(talk, error)))
      .then(() => {
        pending.delete(answered)
        prompt(true)
      })
    pending.add(answered)
  }
  await Promise.all(pending)
  await live?.end()
  await talk.print(CLEAR_LINE)
  return EXIT.ok
}

function refusalText({ style }: Talk, error: unknown): string {
  if (!(error instanceof EscapementError)) throw error
  return refusedText(error, {}, style)
}

interface Chat {
  readonly key: string
  /** Runs whose answer was shown: what was typed in quick succession is one run. */
  readonly shown: Set<string>
  /** What makes room for an answer. */
  readonly before: string
  /** What is shown before it is whole; null: nothing is. */
  readonly live: LiveWords | null
  /** The schedule that was last shown and not made. */
  readonly proposed: Proposed
}

/** Says something and shows what comes back. True unless it went wrong. */
async function say(talk: Talk, { key, shown, before, live, proposed }: Chat, text: string): Promise<boolean> {
  if (makesSchedule(text)) return scheduleInChat(talk, { key, before, proposed }, text)
  const query = { wait: LONGEST_WAIT_SECONDS }
  const answer = await talk.client.sessions.send(key, { text, sender: talk.environment.user }, { query })
  if (talk.json) {
    await printJsonLine(talk, answer)
    return !('status' in answer) || answer.status === 'success'
  }
  const { dim } = talk.style
  if ('stopped' in answer) await talk.print(dim(`${before}${answer.stopped} stopped, ${answer.drained} drained\n`))
  else if ('run_id' in answer) await talk.print(dim(`${before}still ${answer.state}: ${answer.run_id}\n`))
  else if (!shown.has(answer.id)) {
    shown.add(answer.id)
    await talk.print(`${restOf(talk, answer, { before, said: live?.shownOf(answer.id) ?? '' })}\n`)
    return answer.status === 'success'
  }
  return true
}

/** What is still to be shown of an answer; one that came otherwise than it had begun is shown whole. */
function restOf(talk: Talk, run: RunView, shown: { readonly before: string; readonly said: string }): string {
  const { before, said } = shown
  const { output, status } = run
  if (said === '') return `${before}${replyText(talk, run)}`
  if (status === 'success' && typeof output === 'string' && output.startsWith(said))
    return manyLines(output.slice(said.length))
  return `\n${replyText(talk, run)}`
}
