import { createInterface } from 'node:readline'
import type { Command } from 'commander'
import { oneLine } from '../output/text.ts'
import { printJsonLine } from '../remote/show.ts'
import { remote, type Desk, type Talk } from '../remote/talk.ts'
import { EXIT, isTerminal, type ExitCode } from '../terminal.ts'
import { commandOf } from './group.ts'
import { replyText } from './sessions.ts'
import { LONGEST_WAIT_SECONDS } from './waiting.ts'

/** `escapement chat AGENT`: a conversation from the terminal. */
export function addChat(program: Command, desk: Desk): void {
  const command = commandOf(
    program,
    'chat <agent>',
    'talk to an agent; /stop and /stopall work, Ctrl-D ends it',
  ).option('--session <key>', 'key of the conversation (default agent:AGENT:cli:direct:USER)')
  remote<{ readonly session?: string }>(desk, command, {
    work: async (talk, [agent = ''], { session }) => {
      // An agent that is not there is told before anybody has typed a word.
      if (session === undefined) await talk.client.agents.get(agent)
      return converse(talk, session ?? `agent:${agent}:cli:direct:${talk.environment.user}`)
    },
  })
}

async function converse(talk: Talk, key: string): Promise<ExitCode> {
  const { stdin, stdout } = talk.terminal
  const isPerson = 'isTTY' in stdin && stdin.isTTY === true && isTerminal(stdout)
  const lines = createInterface({
    input: stdin,
    ...(isPerson ? { output: stdout, prompt: talk.style.cyan('> ') } : {}),
  })
  if (isPerson) {
    await talk.print(talk.style.dim(`${oneLine(key)}: type, and press enter; /stop stops, Ctrl-D ends.\n`))
    lines.prompt()
  }
  const shown = new Set<string>()
  const pending = new Set<Promise<boolean>>()
  const outcome: { code: ExitCode } = { code: EXIT.ok }
  for await (const line of lines) {
    const text = line.trim()
    if (text !== '') {
      const answered = say(talk, { key, text, shown })
      pending.add(answered)
      const settled = answered
        .finally(() => pending.delete(answered))
        .then((ok) => {
          if (!ok) outcome.code = EXIT.refused
        })
      // A person may go on typing, also to stop what goes on; a script gets one answer after the other.
      if (isPerson)
        settled.then(
          () => lines.prompt(true),
          (error: unknown) => lines.emit('error', error),
        )
      else await settled
    }
    if (isPerson) lines.prompt()
  }
  await Promise.all(pending)
  return outcome.code
}

interface Saying {
  readonly key: string
  readonly text: string
  /** Runs whose answer was shown: what was typed in quick succession is one run. */
  readonly shown: Set<string>
}

/** Says something and shows what comes back. True unless it went wrong. */
async function say(talk: Talk, { key, text, shown }: Saying): Promise<boolean> {
  const query = { wait: LONGEST_WAIT_SECONDS }
  const answer = await talk.client.sessions.send(key, { text, sender: talk.environment.user }, { query })
  if (talk.json) {
    await printJsonLine(talk, answer)
    return !('status' in answer) || answer.status === 'success'
  }
  if ('stopped' in answer) await talk.print(talk.style.dim(`${answer.stopped} stopped, ${answer.drained} drained\n`))
  else if ('run_id' in answer) await talk.print(talk.style.dim(`still ${answer.state}: ${answer.run_id}\n`))
  else if (!shown.has(answer.id)) {
    shown.add(answer.id)
    await talk.print(`${replyText(talk, answer)}\n`)
    return answer.status === 'success'
  }
  return true
}
