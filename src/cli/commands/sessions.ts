import type { Command } from 'commander'
import type { RunView } from '../../contract/run.ts'
import type { MessageReceipt, MessageView, SessionView, StopAnswer } from '../../contract/session.ts'
import { paintState } from '../output/style.ts'
import type { Column } from '../output/table.ts'
import { manyLines, oneLine, valueText } from '../output/text.ts'
import { agoText } from '../output/times.ts'
import {
  bodyOf,
  milliseconds,
  moment,
  namesOf,
  number,
  valuesOf,
  withBody,
  withFields,
  type FieldOption,
} from '../remote/fields.ts'
import { readPages, showDone, showList, showOne, withPages, type PageOptions } from '../remote/show.ts'
import { remote, type Desk, type Talk } from '../remote/talk.ts'
import { EXIT, type ExitCode } from '../terminal.ts'
import { commandOf, groupOf } from './group.ts'
import { waitOf, withWait, type WaitOptions } from './waiting.ts'

const RULES: readonly FieldOption[] = [
  { flags: '--mode <mode>', field: 'mode', about: 'queue, followup or interrupt' },
  { flags: '--cap <n>', field: 'cap', read: number, about: 'how many may wait' },
  { flags: '--drop <policy>', field: 'drop', about: 'when it is full: old or new' },
  { flags: '--debounce <duration>', field: 'debounce_ms', read: milliseconds, about: 'what comes this close is one' },
  { flags: '--max-concurrent <n>', field: 'max_concurrent', read: number, about: 'how many run at once' },
]

const MESSAGE: readonly FieldOption[] = [
  {
    flags: '--sender <name>',
    field: 'sender',
    about: 'who sends it: messages of one sender that come close together are one run; without it, no debounce',
  },
  { flags: '--message-id <id>', field: 'message_id', about: 'the same id twice is one message' },
  { flags: '--lane <name>', field: 'lane', about: 'lane of its run' },
  { flags: '--mode <mode>', field: 'mode', about: 'queue, followup or interrupt, for this message' },
  { flags: '--not-before <time>', field: 'not_before', read: moment, about: 'a time, or how long from now' },
  { flags: '--deadline <time>', field: 'deadline', read: moment, about: 'a time, or how long from now' },
  { flags: '--max-tokens <n>', field: 'max_tokens', read: number, about: 'the most tokens that its run may need' },
]

/** `escapement sessions …`: conversations. */
export function addSessions(program: Command, desk: Desk): void {
  const group = groupOf(program, 'sessions', 'see conversations, talk into them and stop them')
  addReading(group, desk)
  const update = withBody(commandOf(group, 'update <key>', 'change how a session queues'), RULES, 'change')
  remote(desk, update, {
    names: namesOf(RULES),
    work: async (talk, [key = ''], options) => {
      const session = await talk.client.sessions.update(key, await bodyOf(talk.terminal, RULES, options))
      await showOne(talk, session, () => sessionFacts(talk, session))
    },
  })
  const send = withWait(withFields(commandOf(group, 'send <key> <text...>', 'send a message into a session'), MESSAGE))
  remote<WaitOptions>(desk, send, {
    names: { ...namesOf(MESSAGE), '/text': 'TEXT', '/key': 'KEY' },
    work: async (talk, [key = '', ...words], options) => {
      const message = { text: words.join(' '), ...valuesOf(MESSAGE, options, talk.terminal.now()) }
      const wait = waitOf(options)
      const answer = await talk.client.sessions.send(key, message, wait === null ? {} : { query: { wait } })
      return showAnswer(talk, answer)
    },
  })
  addStopping(group, desk)
}

function addReading(group: Command, desk: Desk): void {
  const list = withPages(commandOf(group, 'list', 'list sessions')).option(
    '--isolated',
    'also list sessions that runs of schedules have of their own',
  )
  remote<PageOptions & { readonly isolated?: true }>(desk, list, {
    work: async (talk, _, { isolated, ...options }) => {
      const filter = isolated === true ? { isolated } : {}
      const page = await readPages(talk, options, (asked) => talk.client.sessions.list({ ...asked, ...filter }))
      const none = 'No sessions. Begin one: escapement sessions send agent:echo:cli:direct:me "Hello"'
      await showList(talk, page, { columns: sessionColumns(talk), none })
    },
  })
  remote(desk, commandOf(group, 'get <key>', 'show a session'), {
    work: async (talk, [key = '']) => {
      const session = await talk.client.sessions.get(key)
      await showOne(talk, session, () => sessionFacts(talk, session))
    },
  })
  remote<PageOptions>(desk, withPages(commandOf(group, 'messages <key>', 'list what was said, newest first')), {
    work: async (talk, [key = ''], options) => {
      const page = await readPages(talk, options, (asked) => talk.client.sessions.messages(key, asked))
      await showList(talk, page, { columns: messageColumns(talk), none: 'Nothing was said yet.' })
    },
  })
}

function addStopping(group: Command, desk: Desk): void {
  const stopped = ({ stopped: ended, drained }: StopAnswer): string =>
    `${ended} stopped, ${drained} taken out of the queue.`
  remote(desk, commandOf(group, 'stop <key>', 'cancel the oldest active run'), {
    work: async (talk, [key = '']) => {
      const answer = await talk.client.sessions.stop(key)
      await showDone(talk, answer, stopped(answer))
    },
  })
  remote(desk, commandOf(group, 'stopall <key>', 'cancel what is active and drain what waits'), {
    work: async (talk, [key = '']) => {
      const answer = await talk.client.sessions.stopAll(key)
      await showDone(talk, answer, stopped(answer))
    },
  })
  remote(desk, commandOf(group, 'reset <key>', 'begin a new generation: nothing old goes on'), {
    work: async (talk, [key = '']) => {
      const answer = await talk.client.sessions.reset(key)
      await showDone(talk, answer, stopped(answer))
    },
  })
}

type SendAnswer = RunView | StopAnswer | MessageReceipt

async function showAnswer(talk: Talk, answer: SendAnswer): Promise<ExitCode> {
  if ('stopped' in answer) {
    await showDone(talk, answer, `${answer.stopped} stopped, ${answer.drained} taken out of the queue.`)
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

function sessionColumns({ terminal }: Talk): readonly Column<SessionView>[] {
  const now = terminal.now()
  return [
    { title: 'KEY', of: ({ key }) => key, flexible: true },
    { title: 'MODE', of: ({ mode }) => mode },
    { title: 'ACTIVE', of: ({ active }) => String(active), right: true },
    { title: 'WAITING', of: ({ waiting }) => String(waiting), right: true },
    { title: 'BEGUN', of: ({ created_at }) => agoText(created_at, now) },
  ]
}

const sessionFacts = ({ terminal }: Talk, session: SessionView): readonly (readonly [string, string | null])[] => [
  ['key', oneLine(session.key)],
  ['mode', session.mode],
  ['active', String(session.active)],
  ['waiting', `${session.waiting} of at most ${session.cap}; when full, ${session.drop} is dropped`],
  ['debounce', `${session.debounce_ms} ms`],
  ['at once', String(session.max_concurrent)],
  ['generation', String(session.generation)],
  ['tokens', session.tokens === null ? null : `${session.tokens} of ${session.context_window ?? 'unknown'}`],
  ['begun', agoText(session.created_at, terminal.now())],
]

function messageColumns({ terminal, style }: Talk): readonly Column<MessageView>[] {
  const now = terminal.now()
  return [
    { title: 'RUN', of: ({ run_id }) => run_id },
    { title: 'SAID', of: ({ created_at }) => agoText(created_at, now) },
    { title: 'BY', of: ({ sender, trigger }) => sender ?? trigger },
    { title: 'TEXT', of: ({ text }) => valueText(text), flexible: true },
    { title: 'STATUS', of: ({ status }) => status, paint: (text) => paintState(style, text) },
    { title: 'REPLY', of: ({ reply, error_message }) => error_message ?? valueText(replyOf(reply)), flexible: true },
  ]
}
