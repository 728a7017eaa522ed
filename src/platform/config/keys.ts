import { ENGINE_KEYS } from './engine-keys.ts'
import { flag, integer, orNone, secret, text, texts, textsByName, word, type Key, type ValuesOf } from './key.ts'
import {
  ABSOLUTE_PATH,
  ANY_TEXT,
  DIRECTORY,
  HOST_AND_PORT,
  HOST_MAYBE_PORT,
  HOST_NAME,
  HTTP_URL,
  MAIL_ADDRESS,
  POSTGRES_URL,
  PUBLIC_URL,
  SCHEMA_NAME,
  withoutPassword,
} from './text-shapes.ts'

const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

const hidden = (value: unknown): unknown => (value === null ? null : '***')

/** How many of something there may be at once. */
const places = (most: number, summary: string): Key<number> =>
  integer({ default: most, max: 1_000_000, zero: 'keeps', hot: true, summary })

/** How often a key may ask. */
export const RATE_LIMIT = {
  per_second: integer({
    default: 200,
    max: 1_000_000,
    hot: true,
    summary:
      'Requests per second and key; each 16 KiB sent or received count as one more; 0 is no limit. Unless set, it holds where there is more than one org.',
  }),
  burst: integer({
    default: 1_000,
    min: 1,
    max: 1_000_000,
    hot: true,
    summary: 'Requests that a key may make at once. Where only `per_second` is set, it is as many as that.',
  }),
} as const

const server = {
  host: text({
    default: '127.0.0.1',
    shape: HOST_NAME,
    summary: 'Address to listen on. Others than loopback need a key of a person.',
  }),
  port: integer({ default: 7_420, max: 65_535, summary: 'Port to listen on; 0 takes a free one and prints it.' }),
  public_url: orNone(
    text({ default: '', shape: PUBLIC_URL, summary: 'Address under which others reach the server.' }),
    null,
  ),
  allowed_hosts: texts({ default: [], shape: HOST_MAYBE_PORT, summary: 'Further Host headers that are answered.' }),
  rate_limit: RATE_LIMIT,
  limits: {
    connections: places(10_000, 'Connections of a node. Never more than there are descriptors for.'),
    streams: places(2_000, 'Streams of events of a node.'),
    streams_per_org: places(1_500, 'Streams of events of an org at a node.'),
    sockets: places(1_000, 'WebSockets of a node.'),
    sockets_per_org: places(750, 'WebSockets of an org at a node.'),
  },
  drain_grace_seconds: ENGINE_KEYS.drain_grace_seconds,
} as const

const database = {
  url: orNone(
    secret(
      text({ default: '', shape: POSTGRES_URL, summary: 'A PostgreSQL of your own; null is the embedded server.' }),
      withoutPassword,
    ),
    null,
  ),
  pool: integer({ default: 10, min: 2, max: 1_000, summary: 'Connections of this node.' }),
  schema: text({ default: 'escapement', shape: SCHEMA_NAME, summary: 'Schema that holds all objects.' }),
} as const

const tasks = {
  enabled: flag({ default: true, summary: 'Whether `/tasks` answers.' }),
  ...ENGINE_KEYS.tasks,
  executor: {
    kind: word({
      default: 'tab-action',
      words: ['tab-action', 'none'],
      summary: 'How this node performs tasks of agents that do not exist; `none` leaves them to other nodes.',
    }),
    instances: textsByName({ default: {}, shape: HTTP_URL, summary: 'Base address of the instance of each tab.' }),
    manager_url: orNone(
      text({ default: '', shape: HTTP_URL, summary: 'Where to ask for the instance of other tabs.' }),
      null,
    ),
    token: orNone(
      secret(text({ default: '', shape: ANY_TEXT, summary: 'Token sent to instances and manager.' }), hidden),
      null,
    ),
  },
} as const

const smtp = {
  host: orNone(text({ default: '', shape: HOST_NAME, summary: 'Mail server; null: no mail is sent.' }), null),
  port: integer({ default: 587, min: 1, max: 65_535, summary: 'Port of the mail server.' }),
  secure: flag({ default: false, summary: 'TLS from the beginning, as on port 465; else STARTTLS where offered.' }),
  user: orNone(text({ default: '', shape: ANY_TEXT, summary: 'Name to sign in to the mail server with.' }), null),
  password: orNone(secret(text({ default: '', shape: ANY_TEXT, summary: 'Password for it.' }), hidden), null),
  from: orNone(text({ default: '', shape: MAIL_ADDRESS, summary: 'Who mail comes from.' }), null),
} as const

// A server keeps it among the settings of its own.
const { drain_grace_seconds: _, ...ENGINE_GROUPS } = ENGINE_KEYS

/** Every setting of the server, as the file has them. */
export const CONFIG_KEYS = {
  server,
  data: text({
    default: './.escapement',
    shape: DIRECTORY,
    summary: 'Directory of keys, sign-in link and embedded server.',
  }),
  database,
  ...ENGINE_GROUPS,
  tasks,
  outbound: {
    allow_hosts: texts({
      default: [],
      shape: HOST_AND_PORT,
      summary: 'Addresses that may be called although the guard would refuse them.',
    }),
    allow_loopback: flag({
      default: false,
      summary:
        'Whether agents may be called on this machine. Delivery targets, callbacks and probes are not covered: allow theirs in outbound.allow_hosts.',
    }),
  },
  smtp,
  channels: {
    telegram_api: text({
      default: 'https://api.telegram.org',
      shape: HTTP_URL,
      summary: 'Where the Bot API of Telegram is; a server of your own, perhaps.',
    }),
    slack_api: text({ default: 'https://slack.com/api', shape: HTTP_URL, summary: 'Where the Web API of Slack is.' }),
  },
  executors: {
    command: {
      enabled: flag({ default: false, summary: 'Whether agents may be programs of this machine.' }),
      programs: texts({ default: [], shape: ABSOLUTE_PATH, summary: 'Programs that may be started.' }),
      directories: texts({ default: [], shape: ABSOLUTE_PATH, summary: 'Directories they may be started in.' }),
    },
  },
  heartbeat: {
    checklist_dir: orNone(
      text({ default: '', shape: DIRECTORY, summary: 'Directory that checklists may be read from.' }),
      null,
    ),
  },
  metrics: {
    unprefixed_names: flag({
      default: true,
      hot: true,
      summary:
        'Whether `/metrics` shows `runs_total`, `task_overlap_skipped_total`, `task_failure_retry_total`, `task_timeout_total` and `concurrency_skipped_total` beside the same with `escapement_`.',
    }),
  },
  log: {
    level: word({
      default: 'info',
      words: LOG_LEVELS,
      hot: true,
      summary: 'What is logged: this and what is more important.',
    }),
  },
} as const

/** All settings, complete and checked. Never changed, only replaced. */
export type Config = ValuesOf<typeof CONFIG_KEYS>

/** Whether a path names the size of a lane, and not a setting of all lanes. */
export const isLaneSize = (path: string): boolean =>
  path.startsWith('lanes.') && !Object.hasOwn(CONFIG_KEYS.lanes.own, path.slice('lanes.'.length))
