import { readSlackEvent } from '../../../src/integrations/slack/events.ts'
import { readUpdate } from '../../../src/integrations/telegram/updates.ts'
import { readHookBody } from '../../../src/domain/channel/hook-body.ts'
import { userMessageIn } from '../../../src/executors/chat/conversation.ts'
import { heartbeatInput } from '../../../src/features/heartbeats/schema.ts'
import { readNextCheck } from '../../../src/domain/heartbeat/next-check.ts'
import { agentId } from '../../../src/domain/ids.ts'
import type { Parsed } from '../../../src/domain/input.ts'
import { instant } from '../../../src/domain/instant.ts'
import { parsePermissions } from '../../../src/domain/access/access.ts'
import { parseRunStates } from '../../../src/domain/run/run-words.ts'
import { UTC } from '../../../src/domain/time/zone.ts'
import { readBody } from '../../../src/executors/http/answer.ts'
import { agentInput } from '../../../src/features/agents/schema.ts'
import { givenDocument } from '../../../src/features/as-code/schema.ts'
import { budgetInput } from '../../../src/features/budgets/schema.ts'
import { channelInput } from '../../../src/features/channels/schema.ts'
import { keyInput, memberInput } from '../../../src/features/access/schema.ts'
import { providerInput } from '../../../src/features/providers/schema.ts'
import { readShape } from '../../../src/api/read-input.ts'
import { scheduleInput } from '../../../src/features/schedules/schema.ts'
import { secretInput } from '../../../src/features/secrets/schema.ts'
import { messageInput, sessionChange } from '../../../src/features/sessions/schema.ts'
import { simulateInput } from '../../../src/features/simulation/schema.ts'
import { targetInput } from '../../../src/features/targets/schema.ts'
import { taskBatchInput, taskInput } from '../../../src/features/tasks/schema.ts'
import { parseSimulate } from '../../../src/features/simulation/input.ts'
import { readResponseResult } from '../../../src/features/runs/result-input.ts'
import { parseSchedule } from '../../../src/features/schedules/input.ts'
import { parseSettings } from '../../../src/features/config/settings.ts'
import type { OperationSpec } from '../../../src/api/operation.ts'
import { OPERATIONS } from '../../../src/operations/table.ts'
import { asFields, asText, classOf, isWellFormed, must, type Target } from './target.ts'

const NOW = instant(Date.UTC(2026, 0, 15))
const AGENT = { id: agentId('writer'), executor: { kind: 'echo' } as const, defaultSession: null }

/** The example of an operation, as somebody would send it. */
const exampleOf = (id: keyof typeof OPERATIONS): unknown => {
  const spec: OperationSpec = OPERATIONS[id]
  return spec.examples?.body ?? {}
}

/** A reader of objects that answers with what is wrong. */
function reading(name: string, examples: readonly unknown[], parse: (value: unknown) => Parsed<unknown>): Target {
  const words = examples.flatMap((example) => Object.keys(asFields(example)))
  return {
    ...{ name, words: [...words, 'kind', 'null', 'x'], draw: (random) => random.one(examples) },
    attempt: (input) => {
      const read = parse(input)
      if (read.ok) must(JSON.stringify(read.value) !== '', 'what is read can be written down')
      return classOf(read)
    },
  }
}

const HTTP_AGENT = {
  ...{ id: 'a', name: 'a', timeout_seconds: 60, retry_policy: { max_retries: 3, base_ms: 100 }, max_concurrent: 1 },
  executor: {
    ...{ kind: 'http', url: 'https://example.com/{{payload.x}}', headers: { authorization: 'Bearer {{secret:A}}' } },
    ...{ body: { a: '{{run_id}}' }, success_when: { status: [200], path: 'ok', equals: true } },
  },
}
const CHAT_AGENT = {
  ...{ id: 'c', name: 'c', context_window: 8_000 },
  executor: {
    kind: 'chat',
    base_url: 'https://example.com/v1',
    model: 'm',
    system: 's',
    prices: { input: 1, output: 2 },
  },
}
const COMMAND_AGENT = {
  ...{ id: 'd', name: 'd' },
  executor: { kind: 'command', program: '/bin/true', args: ['{{payload.x}}'], env: { A: 'b' }, directory: '/tmp' },
}
const SCHEDULE = {
  ...{ name: 's', cron: '*/5 * * * *', timezone: 'Europe/Berlin', payload: { prompt: 'x' }, misfire_policy: 'SKIP' },
  ...{ retry_policy: { max_retries: 1 }, failure_options: { ladder_seconds: [60, 120] }, overlap_action: 'SKIP' },
  ...{ session: 'isolated', lane: 'cron', jitter_ms: 1_000, exclude: ['2026-12-24'], max_fires: 3, timeout_seconds: 5 },
}
const HEARTBEAT = {
  ...{ enabled: true, interval_seconds: 60, checklist: '- a', prompt: 'p', target: 'session', ack_max_chars: 30 },
  ...{ active_hours: { start: '08:00', end: '20:00', timezone: 'Europe/Berlin' }, adaptive: true },
}

const schedule = reading('schedule', [SCHEDULE, exampleOf('schedules.create')], (value) => {
  const read = readShape(scheduleInput, value)
  return read.ok ? parseSchedule(read.value, { now: NOW, defaultZone: UTC, agent: AGENT, existing: null }) : read
})
const settings = { sessions: { cap: 5 }, tasks: { max_queue: 5 }, lanes: { main: 3 }, alerts: { failures_in_a_row: 2 } }

const telegram: Target = {
  name: 'Telegram update',
  words: [
    'message',
    'chat',
    'from',
    'text',
    'caption',
    'photo',
    '/stop@my_bot',
    '@my_bot',
    'is_bot',
    'message_thread_id',
  ],
  draw: (random) => ({
    update_id: 1,
    message: {
      ...{
        message_id: 5,
        from: { id: 7, first_name: 'A', is_bot: false },
        chat: { id: -1, type: random.one(['private', 'group']) },
      },
      ...{ text: random.one(['hello @my_bot', '/stop', '/help@other', ' ']), photo: [{ file_id: 'x' }] },
      ...{ reply_to_message: { from: { id: 9 } }, is_topic_message: true, message_thread_id: 3 },
    },
  }),
  attempt: (input) => {
    const heard = readUpdate(input, { id: '9', username: 'my_bot' }, { hearsAll: false })
    if (heard === null) return 'nothing for us'
    must(isWellFormed(heard.text) && !heard.text.includes('\u0000'), 'what is heard can be kept')
    return `${heard.chat.kind}, ${heard.attachments.length > 0 ? 'with files' : 'text'}`
  },
}

const slack: Target = {
  name: 'Slack event',
  words: [
    'type',
    'event',
    'app_mention',
    'message',
    'im',
    '<@U1>',
    '<@U1|x> ',
    'files',
    'thread_ts',
    '&lt;',
    'subtype',
  ],
  draw: (random) => ({
    ...{ type: random.one(['event_callback', 'url_verification']), event_id: 'Ev1', challenge: 'c' },
    event: {
      ...{ type: random.one(['app_mention', 'message']), channel_type: 'im', user: 'U2', channel: 'C1', ts: '1.2' },
      ...{ text: random.one(['<@U1> hello', 'hello <@U1>', '<@U1|bot>: &lt;b&gt;', ' ']), files: [{ id: 'F1' }] },
    },
  }),
  attempt: (input) => {
    const heard = readSlackEvent(input)
    if (heard.kind === 'ignored') must(heard.why.length < 300, 'why it is ignored is a sentence')
    return heard.kind
  },
}

const hook: Target = {
  name: 'hook body',
  words: ['text', 'x', 'session', '{{body.x}}', 'a'],
  draw: (random) =>
    random.one<unknown>([{ text: 'hello', x: 5 }, { x: { y: 1 } }, { x: 'a'.repeat(400) }, [], 'x', { x: true }]),
  attempt: (input) => {
    const read = readHookBody(input, { id: 'h', session: 'to-{{body.x}}', text: null })
    return classOf(read)
  },
}

const answers: Target = {
  name: 'answer of an agent',
  words: [
    'status',
    'success',
    'output',
    'usage',
    'input_tokens',
    'next_check',
    'error_code',
    'retryable',
    'prompt',
    'text',
  ],
  draw: (random) =>
    random.one<unknown>([
      { status: 'failed', error_code: 'timeout', error_message: 'x', retryable: false },
      { status: 'success', output: [1], usage: { input_tokens: 1, output_tokens: 2, cost: 0.000001 }, next_check: 60 },
      { prompt: 'p', context: { a: 1 }, output: 'o' },
      { text: 't', attachments: [{ type: 'image_url' }, 'x'] },
    ]),
  attempt: (input) => {
    const read = readResponseResult(asFields(input))
    must(!('flaw' in read) || read.flaw.length < 20_000, 'a flaw is told in words')
    const check = readNextCheck(asFields(input)['next_check'], NOW)
    must(check === null || check > NOW, 'the next check is to come')
    must(typeof userMessageIn(input).text === 'string', 'a payload says something')
    readBody(Buffer.from(asText(input)), { 'content-type': 'application/json' })
    return 'flaw' in read ? 'flaw' : read.status
  },
}

/** Everything that reads objects of the contract. */
export const INPUT_TARGETS: readonly Target[] = [
  ...[schedule, telegram, slack, hook, answers],
  reading('agent', [HTTP_AGENT, CHAT_AGENT, COMMAND_AGENT, exampleOf('agents.create')], (value) =>
    readShape(agentInput, value),
  ),
  reading('target', [exampleOf('targets.create'), { name: 't', kind: 'email', to: ['a@example.com'] }], (value) =>
    readShape(targetInput, value),
  ),
  reading(
    'channel',
    [exampleOf('channels.create'), { name: 'h', kind: 'hook', agent_id: 'a', session: '{{body.x}}' }],
    (value) => readShape(channelInput, value),
  ),
  reading('budget', [exampleOf('budgets.create'), { unit: 'cost', amount: 0.5, period: 'month' }], (value) =>
    readShape(budgetInput, value),
  ),
  reading('provider', [exampleOf('providers.create')], (value) => readShape(providerInput, value)),
  reading('simulation', [exampleOf('schedules.simulate')], (value) => {
    const read = readShape(simulateInput, value)
    return read.ok ? parseSimulate(read.value, NOW) : read
  }),
  reading('document', [exampleOf('asCode.apply')], (value) => readShape(givenDocument, value)),
  reading('heartbeat', [HEARTBEAT], (value) => readShape(heartbeatInput, value)),
  reading('settings', [settings], (value) => parseSettings(value)),
  reading('key', [{ name: 'k', role: 'admin', scopes: ['runs:read'], expires_at: '2027-01-01T00:00:00Z' }], (value) =>
    readShape(keyInput, value),
  ),
  reading('member', [{ name: 'm', email: 'a@example.com', role: 'viewer' }], (value) => readShape(memberInput, value)),
  reading('secret', [{ name: 'A', value: 'abcdefgh', hosts: ['a.example.com:443', '[::1]:80'] }], (value) =>
    readShape(secretInput, value),
  ),
  reading(
    'task',
    [
      {
        agentId: 'a',
        action: 'click',
        params: {},
        priority: 1,
        deadline: '2027-01-01T00:00:00Z',
        callbackUrl: 'https://example.com',
      },
    ],
    (value) => readShape(taskInput, value),
  ),
  reading('batch of tasks', [exampleOf('tasks.batch')], (value) => readShape(taskBatchInput, value)),
  reading('message', [exampleOf('sessions.send'), { text: '', attachments: [1], sent_at: 5, mode: 'QUEUE' }], (value) =>
    readShape(messageInput, value),
  ),
  reading('session', [exampleOf('sessions.update'), { cap: 5, drop: 'NEW', mode: null }], (value) =>
    readShape(sessionChange, value),
  ),
  reading('scopes', [['runs:read', 'admin:*'], ['*']], (value) => parsePermissions('scopes', value)),
  reading('run states', ['queued,success', 'CANCELED', 'ok'], (value) => parseRunStates('status', value)),
]
