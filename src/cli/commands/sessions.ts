import type { Command } from 'commander'
import type { RunView } from '../../features/runs/schema.ts'
import {
  messageInput,
  sessionChange,
  sessionFilter,
  type MessageReceipt,
  type MessageView,
  type SessionView,
  type StopAnswer,
} from '../../features/sessions/schema.ts'
import { paintState } from '../output/style.ts'
import { manyLines, oneLine, valueText } from '../output/text.ts'
import { agoText } from '../output/times.ts'
import { namesOf, valuesOf, withFields } from '../remote/fields.ts'
import { filtersOf, only, optionsOf } from '../remote/schema-options.ts'
import { showDone, type Facts } from '../remote/show.ts'
import { commandOf, remote, type Desk, type Talk } from '../remote/talk.ts'
import { addAction, addGet, addList, addWrite } from '../resource.ts'
import { EXIT, type ExitCode } from '../terminal.ts'
import { waitOf, withWait, type WaitOptions } from './waiting.ts'

/** Of a message; everything else about it is for programs. */
const MESSAGE = only(
  optionsOf(messageInput, { message_id: '--message-id <id>' }),
  ...['sender', 'message_id', 'lane', 'mode', 'not_before', 'deadline', 'max_tokens'],
)

/** `escapement sessions …`: conversations. */
export function addSessions(group: Command, desk: Desk): void {
  addReading(group, desk)
  addWrite<SessionView, object>(desk, commandOf(group, 'update <key>', 'update the queue rules of a session'), {
    kind: 'change',
    fields: optionsOf(sessionChange),
    facts,
    send: (talk, body, { args: [key = ''] }) => talk.client.sessions.update(key, body),
  })
  const send = withWait(withFields(commandOf(group, 'send <key> <text...>', 'send a message to a session'), MESSAGE))
  remote<WaitOptions>(desk, send, {
    names: { ...namesOf(MESSAGE), '/text': 'TEXT', '/key': 'KEY' },
    work: async (talk, [key = '', ...words], options) => {
      const message = { text: words.join(' '), ...valuesOf(MESSAGE, options, talk.now) }
      const wait = waitOf(options)
      const answer = await talk.client.sessions.send(key, message, wait === null ? {} : { query: { wait } })
      return showAnswer(talk, answer)
    },
  })
  addStopping(group, desk)
}

function addReading(group: Command, desk: Desk): void {
  addList<SessionView>(desk, commandOf(group, 'list', 'list sessions'), {
    filter: filtersOf(sessionFilter),
    none: 'No sessions. Begin one: escapement sessions send agent:echo:cli:direct:me "Hello"',
    read: (talk, query) => talk.client.sessions.list(query),
    columns: ({ now }) => [
      { title: 'KEY', of: ({ key }) => key, flexible: true },
      { title: 'MODE', of: ({ mode }) => mode },
      { title: 'ACTIVE', of: ({ active }) => String(active), right: true },
      { title: 'WAITING', of: ({ waiting }) => String(waiting), right: true },
      { title: 'BEGUN', of: ({ created_at }) => agoText(created_at, now) },
    ],
  })
  addGet(desk, commandOf(group, 'get <key>', 'show a session'), {
    facts,
    read: (talk, [key = '']) => talk.client.sessions.get(key),
  })
  addList<MessageView>(desk, commandOf(group, 'messages <key>', 'list the messages of a session, newest first'), {
    none: 'No messages yet.',
    read: (talk, query, [key = '']) => talk.client.sessions.messages(key, query),
    columns: ({ now, style }) => [
      { title: 'RUN', of: ({ run_id }) => run_id },
      { title: 'SAID', of: ({ created_at }) => agoText(created_at, now) },
      { title: 'BY', of: ({ sender, trigger }) => sender ?? trigger },
      { title: 'TEXT', of: ({ text }) => valueText(text), flexible: true },
      { title: 'STATUS', of: ({ status }) => status, paint: (text) => paintState(style, text) },
      { title: 'REPLY', of: ({ reply, error_message }) => error_message ?? valueText(replyOf(reply)), flexible: true },
    ],
  })
}

const stoppedText = ({ stopped, drained }: StopAnswer): string =>
  `${stopped} stopped, ${drained} taken out of the queue.`

function addStopping(group: Command, desk: Desk): void {
  for (const [name, verb, about] of [
    ['stop', 'stop', 'cancel the oldest active run'],
    ['stopall', 'stopAll', 'cancel active runs and empty the queue'],
    ['reset', 'reset', 'begin a new generation: cancel everything and forget the conversation'],
  ] as const)
    addAction(desk, commandOf(group, `${name} <key>`, about), {
      call: (talk, [key = '']) => talk.client.sessions[verb](key),
      say: stoppedText,
    })
}

type SendAnswer = RunView | StopAnswer | MessageReceipt

async function showAnswer(talk: Talk, answer: SendAnswer): Promise<ExitCode> {
  if ('stopped' in answer) {
    await showDone(talk, answer, stoppedText(answer))
    return EXIT.ok
  }
  if ('run_id' in answer) {
    const place = answer.position === null ? '' : `, at position ${answer.position}`
    const merged = answer.merged_into === undefined ? '' : `, merged into ${answer.merged_into}`
    const known = answer.duplicate === true ? '; this message was sent before' : ''
    await showDone(talk, answer, `${answer.run_id} is ${answer.state}${place}${merged}${known}.`)
    return EXIT.ok
  }
  await showDone(talk, answer, replyText(talk, answer))
  return answer.status === 'success' ? EXIT.ok : EXIT.refused
}

/** What came of a message: the answer, or why there is none. */
export function replyText({ style }: Pick<Talk, 'style'>, run: RunView): string {
  if (run.status === 'success') return manyLines(valueText(replyOf(run.output)))
  const error = run.error_message === null ? '' : `: ${oneLine(run.error_message)}`
  return `${paintState(style, run.status)} (${run.error_code ?? run.reason ?? 'no reason'})${error}`
}

/** Agents that hand back what they were given answer with an object; what was said is the text in it. */
function replyOf(output: unknown): unknown {
  const said = typeof output === 'object' && output !== null && 'text' in output ? output.text : output
  return typeof said === 'string' ? said : output
}

const facts = ({ now }: Talk, session: SessionView): Facts => [
  ['key', oneLine(session.key)],
  ['mode', session.mode],
  ['active', String(session.active)],
  ['waiting', `${session.waiting} of at most ${session.cap}; when full, ${session.drop} is dropped`],
  ['debounce', `${session.debounce_ms} ms`],
  ['at once', String(session.max_concurrent)],
  ['generation', String(session.generation)],
  ['tokens', session.tokens === null ? null : `${session.tokens} of ${session.context_window ?? 'unknown'}`],
  ['begun', agoText(session.created_at, now)],
]
