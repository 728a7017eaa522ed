import { ENGINE_KEYS } from './engine-keys.ts'
import {
  flag,
  fraction,
  integer,
  nullable,
  secret,
  text,
  texts,
  textsByName,
  word,
  type Key,
  type ValuesOf,
} from './key.ts'
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

const maskCompletely = (value: unknown): unknown => (value === null ? null : '***')

const maskEach = (value: unknown): unknown =>
  Object.fromEntries(Object.keys(value as Readonly<Record<string, string>>).map((name) => [name, '***']))

/** The maximum number of connections, streams or sockets at a time. */
const maxCount = (max: number, summary: string): Key<number> =>
  integer({ default: max, max: 1_000_000, zero: 'keeps', hot: true, summary })

/** Rate limits of API keys. */
export const RATE_LIMIT = {
  per_second: integer({
    default: 200,
    max: 1_000_000,
    hot: true,
    summary:
      'Requests per second and key; every 16 KiB sent or received counts as one more; 0 is no limit. The default applies only if there is more than one org.',
  }),
  burst: integer({
    default: 1_000,
    min: 1,
    max: 1_000_000,
    hot: true,
    summary: 'Requests that a key may send in a burst. Where only `per_second` is set, the same number.',
  }),
} as const

const server = {
  host: text({
    default: '127.0.0.1',
    shape: HOST_NAME,
    summary: 'Address to listen on. Addresses other than loopback require a personal key.',
  }),
  port: integer({ default: 7_420, max: 65_535, summary: 'Port to listen on; 0 picks a free one and prints it.' }),
  public_url: nullable(
    text({ default: '', shape: PUBLIC_URL, summary: 'URL under which users reach the server.' }),
    null,
  ),
  allowed_hosts: texts({ default: [], shape: HOST_MAYBE_PORT, summary: 'Additional Host headers to accept.' }),
  rate_limit: RATE_LIMIT,
  limits: {
    connections: maxCount(10_000, 'Maximum number of connections per node, limited by file descriptors.'),
    streams: maxCount(2_000, 'Maximum number of event streams per node.'),
    streams_per_org: maxCount(1_500, 'Maximum number of event streams per org and node.'),
    sockets: maxCount(1_000, 'Maximum number of WebSockets per node.'),
    sockets_per_org: maxCount(750, 'Maximum number of WebSockets per org and node.'),
  },
  drain_grace_seconds: ENGINE_KEYS.drain_grace_seconds,
} as const

const database = {
  url: nullable(
    secret(
      text({ default: '', shape: POSTGRES_URL, summary: 'URL of your own PostgreSQL; null is the embedded one.' }),
      withoutPassword,
    ),
    null,
  ),
  pool: integer({ default: 10, min: 2, max: 1_000, summary: 'Connections of this node to the database.' }),
  schema: text({ default: 'escapement', shape: SCHEMA_NAME, summary: 'Database schema for all objects.' }),
} as const

const tasks = {
  enabled: flag({ default: true, summary: 'Whether the `/tasks` API is enabled.' }),
  ...ENGINE_KEYS.tasks,
  executor: {
    kind: word({
      default: 'tab-action',
      words: ['tab-action', 'none'],
      summary: 'How this node executes tasks of agents that do not exist; `none` leaves them to other nodes.',
    }),
    instances: textsByName({ default: {}, shape: HTTP_URL, summary: 'Base URL of the instance of each tab.' }),
    manager_url: nullable(
      text({ default: '', shape: HTTP_URL, summary: 'URL of the manager that knows the instances of other tabs.' }),
      null,
    ),
    token: nullable(
      secret(
        text({ default: '', shape: ANY_TEXT, summary: 'Token for the instances and the manager.' }),
        maskCompletely,
      ),
      null,
    ),
  },
} as const

const smtp = {
  host: nullable(
    text({ default: '', shape: HOST_NAME, summary: 'Host of the mail server; null: no mail is sent.' }),
    null,
  ),
  port: integer({ default: 587, min: 1, max: 65_535, summary: 'Port of the mail server.' }),
  secure: flag({
    default: false,
    summary: 'Whether to use TLS from the start, as on port 465; otherwise STARTTLS where offered.',
  }),
  user: nullable(text({ default: '', shape: ANY_TEXT, summary: 'User name on the mail server.' }), null),
  password: nullable(
    secret(text({ default: '', shape: ANY_TEXT, summary: 'Password on the mail server.' }), maskCompletely),
    null,
  ),
  from: nullable(text({ default: '', shape: MAIL_ADDRESS, summary: 'Sender address of mail.' }), null),
} as const

// The server has it in its own group, `server`.
const { drain_grace_seconds: _, ...ENGINE_GROUPS } = ENGINE_KEYS

/** All settings of the server, in the structure of the configuration file. */
export const CONFIG_KEYS = {
  server,
  data: text({
    default: './.escapement',
    shape: DIRECTORY,
    summary: 'Directory for keys, the sign-in link and the embedded database.',
  }),
  database,
  ...ENGINE_GROUPS,
  tasks,
  outbound: {
    allow_hosts: texts({
      default: [],
      shape: HOST_AND_PORT,
      summary: 'Addresses that the outbound guard allows in addition.',
    }),
    allow_loopback: flag({
      default: false,
      summary:
        'Whether agents may run on this machine. Does not apply to delivery targets, callbacks and probes: allow their addresses in outbound.allow_hosts.',
    }),
  },
  smtp,
  channels: {
    telegram_api: text({
      default: 'https://api.telegram.org',
      shape: HTTP_URL,
      summary: 'URL of the Telegram Bot API, for example of your own server.',
    }),
    slack_api: text({ default: 'https://slack.com/api', shape: HTTP_URL, summary: 'URL of the Slack Web API.' }),
  },
  executors: {
    command: {
      enabled: flag({ default: false, summary: 'Whether agents may run programs on this machine.' }),
      programs: texts({ default: [], shape: ABSOLUTE_PATH, summary: 'Programs that agents may run.' }),
      directories: texts({ default: [], shape: ABSOLUTE_PATH, summary: 'Working directories they may run in.' }),
    },
  },
  heartbeat: {
    checklist_dir: nullable(text({ default: '', shape: DIRECTORY, summary: 'Directory of checklist files.' }), null),
  },
  metrics: {
    unprefixed_names: flag({
      default: true,
      hot: true,
      summary:
        'Whether `/metrics` also shows `runs_total`, `task_overlap_skipped_total`, `task_failure_retry_total`, `task_timeout_total` and `concurrency_skipped_total` without the prefix `escapement_`.',
    }),
  },
  tracing: {
    otlp_endpoint: nullable(
      text({
        default: '',
        shape: HTTP_URL,
        summary:
          'URL of an OpenTelemetry collector (OTLP over HTTP), without `/v1/traces`; null: no spans are created.',
      }),
      null,
    ),
    otlp_headers: secret(
      textsByName({ default: {}, shape: ANY_TEXT, summary: 'Headers of each export, such as `authorization`.' }),
      maskEach,
    ),
    sample_ratio: fraction({
      default: 1,
      min: 0,
      max: 1,
      summary: 'Share of the traces that begin here and are recorded. A trace that a caller began follows its caller.',
    }),
  },
  log: {
    level: word({
      default: 'info',
      words: LOG_LEVELS,
      hot: true,
      summary: 'Minimum level of log messages.',
    }),
  },
} as const

/** All settings, complete and validated. Immutable. */
export type Config = ValuesOf<typeof CONFIG_KEYS>

/** Whether a path is the size of a lane rather than a setting for all lanes. */
export const isLaneSize = (path: string): boolean =>
  path.startsWith('lanes.') && !Object.hasOwn(CONFIG_KEYS.lanes.own, path.slice('lanes.'.length))
