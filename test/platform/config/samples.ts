import { CONFIG_KEYS } from '../../../src/platform/config/keys.ts'
import { keysOf, type Layer, type KeyWithPath } from '../../../src/platform/config/tree.ts'
import { readConfigText } from '../../../src/platform/config/file.ts'

/** The configuration as the documents show it: every setting with its default. */
export const COMPLETE = `
server:    { host: 127.0.0.1, port: 7420, public_url: null, allowed_hosts: [], rate_limit: { per_second: 200, burst: 1000 }, drain_grace_seconds: 30,
             limits: { connections: 10000, streams: 2000, streams_per_org: 1500, sockets: 1000, sockets_per_org: 750 } }
data:      ./.escapement
database:  { url: null, pool: 10, schema: escapement }
node:      { lease_ms: 15000, renew_ms: 5000, stop_grace_ms: 5000 }
lanes:     { main: 30, subagent: 50, team: 100, cron: 30, task: 20, max_org_share: 0.8 }
sessions:  { mode: queue, cap: 10, drop: old, debounce_ms: 800, max_concurrent: 1 }
tasks:     { enabled: true, max_queue: 1000, max_per_agent: 100, max_inflight: 20, max_per_agent_inflight: 10, result_ttl_seconds: 300, default_deadline_seconds: 60,
             executor: { kind: tab-action, instances: {}, manager_url: null, token: null } }
schedules: { default_timezone: UTC, poll_ms: 1000, misfire_grace_seconds: 60, catchup_window_seconds: 900, catchup_spacing_ms: 1000, catchup_max_active: 10 }
retry:     { max_retries: 3, base_ms: 2000, max_ms: 30000, jitter: 0.25 }        # agent turns
retention: { run_days: 30, runs_per_schedule: 200, max_runs_per_schedule: 10000, output_bytes: 16384 }
alerts:    { failures_in_a_row: 3, stall_periods: 3 }
outbound:  { allow_hosts: [], allow_loopback: false }
channels:  { telegram_api: https://api.telegram.org, slack_api: https://slack.com/api }
smtp:      { host: null, port: 587, secure: false, user: null, password: null, from: null }
executors: { command: { enabled: false, programs: [], directories: [] } }
heartbeat: { checklist_dir: null }
metrics:   { unprefixed_names: true }
tracing:   { otlp_endpoint: null, otlp_headers: {}, sample_ratio: 1 }
log:       { level: info }
`

/** Another value for each setting: as the file has it, as a variable has it, and as it is read. */
export const OTHERS: Readonly<
  Record<string, { readonly file: unknown; readonly text: string; readonly value?: unknown }>
> = {
  'server.host': { file: '0.0.0.0', text: '0.0.0.0' },
  'server.port': { file: 8080, text: '8080' },
  'server.public_url': { file: 'https://clock.example.org', text: 'https://clock.example.org' },
  'server.allowed_hosts': { file: ['clock.lan', '[::1]:9'], text: 'clock.lan, [::1]:9' },
  'server.rate_limit.per_second': { file: 50, text: '50' },
  'server.rate_limit.burst': { file: 60, text: '60' },
  'server.limits.connections': { file: 500, text: '500' },
  'server.limits.streams': { file: 100, text: '100' },
  'server.limits.streams_per_org': { file: 50, text: '50' },
  'server.limits.sockets': { file: 60, text: '60' },
  'server.limits.sockets_per_org': { file: 30, text: '30' },
  'server.drain_grace_seconds': { file: '2m', text: '2m', value: 120 },
  data: { file: '/var/lib/escapement', text: '/var/lib/escapement' },
  'database.url': { file: 'postgres://u:p@db/x', text: 'postgres://u:p@db/x' },
  'database.pool': { file: 20, text: '20' },
  'database.schema': { file: 'clock', text: 'clock' },
  'node.lease_ms': { file: '20s', text: '20s', value: 20_000 },
  'node.renew_ms': { file: 4_000, text: '4000' },
  'node.stop_grace_ms': { file: 0, text: '0' },
  'lanes.main': { file: 5, text: '5' },
  'lanes.subagent': { file: 5, text: '5' },
  'lanes.team': { file: 5, text: '5' },
  'lanes.cron': { file: 5, text: '5' },
  'lanes.task': { file: 5, text: '5' },
  'lanes.max_org_share': { file: 0.5, text: '0.5' },
  'sessions.mode': { file: 'Interrupt', text: 'interrupt', value: 'interrupt' },
  'sessions.cap': { file: 3, text: '3' },
  'sessions.drop': { file: 'new', text: 'new' },
  'sessions.debounce_ms': { file: 0, text: '0' },
  'sessions.max_concurrent': { file: 3, text: '3' },
  'tasks.enabled': { file: false, text: 'FALSE', value: false },
  'tasks.max_queue': { file: 5, text: '5' },
  'tasks.max_per_agent': { file: 5, text: '5' },
  'tasks.max_inflight': { file: 5, text: '5' },
  'tasks.max_per_agent_inflight': { file: 5, text: '5' },
  'tasks.result_ttl_seconds': { file: '1h30m', text: '1h30m', value: 5_400 },
  'tasks.default_deadline_seconds': { file: 5, text: '5' },
  'tasks.executor.kind': { file: 'none', text: 'none' },
  'tasks.executor.instances': { file: { one: 'http://a:1' }, text: 'one=http://a:1' },
  'tasks.executor.manager_url': { file: 'http://manager:9867', text: 'http://manager:9867' },
  'tasks.executor.token': { file: 'sesame', text: 'sesame' },
  'schedules.default_timezone': { file: 'europe/berlin', text: 'europe/berlin', value: 'Europe/Berlin' },
  'schedules.poll_ms': { file: 500, text: '500' },
  'schedules.misfire_grace_seconds': { file: 0, text: '0' },
  'schedules.catchup_window_seconds': { file: '1d', text: '1d', value: 86_400 },
  'schedules.catchup_spacing_ms': { file: '2s', text: '2s', value: 2_000 },
  'schedules.catchup_max_active': { file: 5, text: '5' },
  'retry.max_retries': { file: 0, text: '0' },
  'retry.base_ms': { file: 100, text: '100' },
  'retry.max_ms': { file: '1m', text: '1m', value: 60_000 },
  'retry.jitter': { file: 0.5, text: '0.5' },
  'retention.run_days': { file: null, text: 'null' },
  'retention.runs_per_schedule': { file: 5, text: '5' },
  'retention.max_runs_per_schedule': { file: 500, text: '500' },
  'retention.output_bytes': { file: 5, text: '5' },
  'alerts.failures_in_a_row': { file: 5, text: '5' },
  'alerts.stall_periods': { file: 5, text: '5' },
  'outbound.allow_hosts': { file: ['10.0.0.1:80'], text: '10.0.0.1:80' },
  'outbound.allow_loopback': { file: true, text: 'true' },
  'channels.telegram_api': { file: 'http://localhost:8081', text: 'http://localhost:8081' },
  'channels.slack_api': { file: 'http://localhost:8082', text: 'http://localhost:8082' },
  'smtp.host': { file: 'mail.example.org', text: 'mail.example.org' },
  'smtp.port': { file: 465, text: '465' },
  'smtp.secure': { file: true, text: 'true' },
  'smtp.user': { file: 'clock', text: 'clock' },
  'smtp.password': { file: 'sesame', text: 'sesame' },
  'smtp.from': { file: 'Clock <clock@example.org>', text: 'Clock <clock@example.org>' },
  'executors.command.enabled': { file: true, text: 'true' },
  'executors.command.programs': { file: ['/usr/bin/env'], text: '/usr/bin/env' },
  'executors.command.directories': { file: ['/srv', '/opt'], text: '/srv,/opt' },
  'heartbeat.checklist_dir': { file: '/srv/lists', text: '/srv/lists' },
  'metrics.unprefixed_names': { file: false, text: 'false' },
  'tracing.otlp_endpoint': { file: 'http://collector:4318', text: 'http://collector:4318' },
  'tracing.otlp_headers': { file: { authorization: 'Bearer t' }, text: 'authorization=Bearer t' },
  'tracing.sample_ratio': { file: 0.25, text: '0.25' },
  'log.level': { file: 'debug', text: 'debug' },
}

/** Every setting there is. */
export const PLACED: readonly KeyWithPath[] = keysOf(CONFIG_KEYS)

/** The other value of a setting, as it is read. */
export function otherValue(path: string): unknown {
  const other = OTHERS[path]
  return other !== undefined && 'value' in other ? other.value : other?.file
}

/** A file with one setting in it. */
export function fileWith(path: string, value: unknown): string {
  const names = path.split('.')
  return JSON.stringify(names.reduceRight((inner: unknown, name) => ({ [name]: inner }), value))
}

/** The layer of a text that is expected to be fine. */
export function layerOf(text: string): Layer {
  const read = readConfigText(text)
  if (!read.ok) throw new Error(read.flaws.map(({ line, message }) => `${line}: ${message}`).join('\n'))
  return read.layer.values
}

/** What is wrong with a text, with lines. */
export function complaintsOf(text: string): readonly string[] {
  const read = readConfigText(text)
  return read.ok ? [] : read.flaws.map(({ line, message }) => `${line}: ${message}`)
}
