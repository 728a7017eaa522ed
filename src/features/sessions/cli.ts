import type { Command } from 'commander'
import type { RunView } from '../runs/schema.ts'
import { replyOf, replyText } from '../runs/cli-show.ts'
import {
  messageInput,
  sessionChange,
  sessionFilter,
  type MessageOutcome,
  type MessageReceipt,
  type MessageView,
  type SessionView,
  type StopAnswer,
} from './schema.ts'
import { paintState } from '../../cli/output/style.ts'
import { oneLine, valueText } from '../../cli/output/text.ts'
import { relativeTimeText } from '../../cli/output/times.ts'
import { renderTable, type Column } from '../../cli/output/table.ts'
import { bodyOf, namesOf, valuesOf, withBody, withFields } from '../../cli/remote/fields.ts'
import { filtersOf, only, optionsOf } from '../../cli/remote/schema-options.ts'
import { type Facts, printJson, showResult, waitOptionsOf, type WaitOptions, withWait } from '../../cli/remote/show.ts'
import { commandOf, remote, type CliContext, type CliCall, UsageError } from '../../cli/remote/call.ts'
import { addAction, addGet, addList, addWrite } from '../../cli/resource.ts'
import { EXIT, type ExitCode } from '../../cli/terminal.ts'

/** The options of a message; its other fields are for programs. */
const MESSAGE_FIELDS = only(
  optionsOf(messageInput, { message_id: '--message-id <id>' }),
  ...['sender', 'message_id', 'lane', 'mode', 'not_before', 'deadline', 'max_tokens'],
)

/** `escapement sessions …`: sessions and their messages. */
export function addSessions(group: Command, cli: CliContext): void {
  addSessionReads(group, cli)
  addWrite<SessionView, object>(cli, commandOf(group, 'update <key>', 'update the queue rules of a session'), {
    kind: 'change',
    fields: optionsOf(sessionChange),
    facts,
    send: (call, body, { args: [key = ''] }) => call.client.sessions.update(key, body),
  })
  const send = withWait(
    withFields(commandOf(group, 'send <key> <text...>', 'send a message to a session'), MESSAGE_FIELDS),
  )
  remote<WaitOptions>(cli, send, {
    names: { ...namesOf(MESSAGE_FIELDS), '/text': 'TEXT', '/key': 'KEY' },
    work: async (call, [key = '', ...words], options) => {
      const message = { text: words.join(' '), ...valuesOf(MESSAGE_FIELDS, options, call.now) }
      const answer = await call.client.sessions.send(key, message, waitOptionsOf(options))
      return showReply(call, answer)
    },
  })
  addSendMany(group, cli)
  addStopCommands(group, cli)
}

function addSendMany(group: Command, cli: CliContext): void {
  remote<{ readonly file?: string }>(
    cli,
    withBody(commandOf(group, 'send-many', 'send up to 1,000 messages'), [], 'new'),
    {
      names: {},
      work: async (call, _, options): Promise<ExitCode> => {
        if (options.file === undefined)
          throw new UsageError('Missing --file FILE with the messages: {"messages": [{"session": …, "text": …}]}')
        const answer = await call.client.sessions.sendMany((await bodyOf(call.terminal, [], options)) as never)
        await (call.json ? printJson(call, answer) : call.print(renderTable(outcomeColumns(call), answer.items, call)))
        return answer.refused > 0 ? EXIT.refused : EXIT.ok
      },
    },
  )
}

const outcomeColumns = ({ style }: CliCall): readonly Column<MessageOutcome>[] => [
  { title: 'RUN', value: (item) => ('run_id' in item ? (item.run_id ?? '') : '') },
  {
    title: 'STATE',
    value: (item) => (!item.ok ? 'rejected' : 'state' in item ? item.state : 'stopped'),
    paint: (text) => paintState(style, text),
  },
  {
    title: 'DETAILS',
    value: (item) => (!item.ok ? `${item.code}: ${oneLine(item.message)}` : 'stopped' in item ? stoppedText(item) : ''),
    flexible: true,
  },
]

function addSessionReads(group: Command, cli: CliContext): void {
  addList<SessionView>(cli, commandOf(group, 'list', 'list sessions'), {
    filter: filtersOf(sessionFilter),
    none: 'No sessions. Start one: escapement sessions send agent:echo:cli:direct:me "Hello"',
    read: (call, query) => call.client.sessions.list(query),
    columns: ({ now }) => [
      { title: 'KEY', value: ({ key }) => key, flexible: true },
      { title: 'MODE', value: ({ mode }) => mode },
      { title: 'ACTIVE', value: ({ active }) => String(active), right: true },
      { title: 'WAITING', value: ({ waiting }) => String(waiting), right: true },
      { title: 'CREATED', value: ({ created_at }) => relativeTimeText(created_at, now) },
    ],
  })
  addGet(cli, commandOf(group, 'get <key>', 'show a session'), {
    facts,
    read: (call, [key = '']) => call.client.sessions.get(key),
  })
  addList<MessageView>(cli, commandOf(group, 'messages <key>', 'list the messages of a session, newest first'), {
    none: 'No messages yet.',
    read: (call, query, [key = '']) => call.client.sessions.messages(key, query),
    columns: ({ now, style }) => [
      { title: 'RUN', value: ({ run_id }) => run_id },
      { title: 'SENT', value: ({ created_at }) => relativeTimeText(created_at, now) },
      { title: 'SENDER', value: ({ sender, trigger }) => sender ?? trigger },
      { title: 'TEXT', value: ({ text }) => valueText(text), flexible: true },
      { title: 'STATUS', value: ({ status }) => status, paint: (text) => paintState(style, text) },
      {
        title: 'REPLY',
        value: ({ reply, error_message }) => error_message ?? valueText(replyOf(reply)),
        flexible: true,
      },
    ],
  })
}

const stoppedText = ({ stopped, drained }: StopAnswer): string =>
  `${stopped} cancelled, ${drained} removed from the queue.`

function addStopCommands(group: Command, cli: CliContext): void {
  for (const [name, verb, about] of [
    ['stop', 'stop', 'cancel the oldest active run'],
    ['stopall', 'stopAll', 'cancel active runs and empty the queue'],
    ['reset', 'reset', 'start a new generation: cancel all runs and clear the history'],
  ] as const)
    addAction(cli, commandOf(group, `${name} <key>`, about), {
      call: (call, [key = '']) => call.client.sessions[verb](key),
      resultText: stoppedText,
    })
}

type SendAnswer = RunView | StopAnswer | MessageReceipt

async function showReply(call: CliCall, answer: SendAnswer): Promise<ExitCode> {
  if ('stopped' in answer) {
    await showResult(call, answer, stoppedText(answer))
    return EXIT.ok
  }
  if ('run_id' in answer) {
    const positionText = answer.position === null ? '' : `, at position ${answer.position}`
    const merged = answer.merged_into === undefined ? '' : `, merged into ${answer.merged_into}`
    const known = answer.duplicate === true ? '; this message is a duplicate' : ''
    await showResult(call, answer, `${answer.run_id} is ${answer.state}${positionText}${merged}${known}.`)
    return EXIT.ok
  }
  await showResult(call, answer, replyText(call, answer))
  return answer.status === 'success' ? EXIT.ok : EXIT.refused
}

const facts = ({ now }: CliCall, session: SessionView): Facts => [
  ['key', oneLine(session.key)],
  ['mode', session.mode],
  ['active', String(session.active)],
  ['waiting', `${session.waiting} of at most ${session.cap}; drops ${session.drop} when full`],
  ['debounce', `${session.debounce_ms} ms`],
  ['max concurrent', String(session.max_concurrent)],
  ['generation', String(session.generation)],
  ['tokens', session.tokens === null ? null : `${session.tokens} of ${session.context_window ?? 'unknown'}`],
  ['created', relativeTimeText(session.created_at, now)],
]
