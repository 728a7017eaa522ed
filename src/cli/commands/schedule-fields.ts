import {
  milliseconds,
  moment,
  number,
  seconds,
  textOrJson,
  json,
  type FieldOption,
  type ReadText,
} from '../remote/fields.ts'
import { readExecutor } from './executor-field.ts'

const target: ReadText = (text) => ({ target_id: text })

const BUDGET = /^([\d.]+) (tokens|money)(?: per (day|month))?$/

/** `5000 tokens per day`, as JSON, or `none`, which takes the budget away. */
const readBudget: ReadText = (text, about) => {
  if (text === 'none') return null
  const [, amount, unit, period] = BUDGET.exec(text.trim()) ?? []
  if (amount === undefined) return json(text, about)
  return { amount: Number(amount), unit, ...(period === undefined ? {} : { period }) }
}

/** `5m..6h`, as JSON, or `none`, which lets the interval stay as it is. */
const readCadence: ReadText = (text, about) => {
  if (text === 'none') return null
  const [low, high, ...more] = text.split('..')
  if (low === undefined || high === undefined || more.length > 0) return json(text, about)
  return { min_seconds: seconds(low.trim(), about), max_seconds: seconds(high.trim(), about) }
}

/** When a schedule fires. */
export const TIMING_FIELDS: readonly FieldOption[] = [
  { flags: '--cron <expr>', field: 'cron', about: 'cron expression, quoted' },
  { flags: '--every <duration>', field: 'every_seconds', read: seconds, about: 'interval, as in 30m' },
  {
    ...{ flags: '--cadence <range|json>', field: 'cadence', read: readCadence },
    about: 'with --every: how far the interval may move by itself, as in 5m..6h, JSON, or none',
  },
  { flags: '--at <time>', field: 'at', read: moment, about: 'once: an RFC 3339 time, or how long from now, as in 30m' },
  { flags: '--rrule <rule>', field: 'rrule', about: 'recurrence rule (RFC 5545)' },
  { flags: '--tz <zone>', also: '--timezone <zone>', field: 'timezone', about: 'IANA time zone' },
  { flags: '--anchor <time>', field: 'anchor', read: moment, about: 'a moment from which intervals count' },
  { flags: '--dst <policy>', field: 'dst', about: 'at clock changes: vixie, skip, shift or both' },
  { flags: '--day-match <how>', field: 'day_match', about: 'when both day fields are restricted: or, and' },
  { flags: '--starts <time>', field: 'starts_at', read: moment, about: 'not before' },
  { flags: '--ends <time>', field: 'ends_at', read: moment, about: 'not after' },
  { flags: '--exclude <json>', field: 'exclude', read: json, about: 'days and stretches without it, as a JSON list' },
]

/** Everything else that can be said about a schedule. */
export const SCHEDULE_FIELDS: readonly FieldOption[] = [
  { flags: '--name <name>', field: 'name', about: 'what it is called' },
  { flags: '--description <text>', field: 'description', about: 'what it is for' },
  { flags: '--agent <id>', field: 'agent_id', about: 'whom it wakes; the default agent unless given' },
  {
    ...{ flags: '--executor <kind|url|json>', field: 'executor', read: readExecutor },
    about: 'in place of an agent: an http address that is called, a kind, or JSON',
  },
  ...TIMING_FIELDS,
  {
    ...{ flags: '--payload <text|json>', also: '--prompt <text>', field: 'payload', read: textOrJson },
    about: 'what there is to do',
  },
  { flags: '--session <key>', field: 'session', about: 'isolated (default), main, or the key of a session' },
  { flags: '--lane <name>', field: 'lane', about: 'lane of its runs' },
  { flags: '--disabled', field: 'enabled', stands: false, about: 'switched off to begin with' },
  { flags: '--misfire <policy>', field: 'misfire_policy', about: 'what becomes of missed moments' },
  { flags: '--catchup-limit <n>', field: 'catchup_limit', read: number, about: 'missed moments that are made up for' },
  {
    flags: '--catchup-window <duration>',
    field: 'catchup_window_seconds',
    read: seconds,
    about: 'how far back they may lie',
  },
  { flags: '--overlap <action>', field: 'overlap_action', about: 'what happens while an earlier run is pending' },
  { flags: '--max-parallel <n>', field: 'max_parallel', read: number, about: 'runs that may overlap' },
  { flags: '--failure <action>', field: 'failure_action', about: 'what happens after a failure' },
  { flags: '--failure-options <json>', field: 'failure_options', read: json, about: 'ladder, threshold, cooldown' },
  { flags: '--concurrency <policy>', field: 'concurrency_policy', about: 'what happens when all slots are taken' },
  { flags: '--max-concurrency <n>', field: 'max_concurrency', read: number, about: 'slots of the schedule' },
  { flags: '--queue-depth <n>', field: 'queue_depth', read: number, about: 'runs that may wait for a slot' },
  { flags: '--retry <json>', field: 'retry_policy', read: json, about: 'how failed attempts are repeated' },
  {
    ...{ flags: '--budget <text|json>', field: 'budget', read: readBudget },
    about: 'what its runs may use: "5000 tokens per day", "10 money per month", JSON, or none',
  },
  { flags: '--timeout <duration>', field: 'timeout_seconds', read: seconds, about: 'how long an attempt may take' },
  { flags: '--max-fires <n>', field: 'max_fires', read: number, about: 'how often at most' },
  { flags: '--jitter <duration>', field: 'jitter_ms', read: milliseconds, about: 'spread over this long' },
  { flags: '--alert-after <n>', field: 'alert_after', read: number, about: 'failures in a row that raise an alert' },
  {
    ...{ flags: '--max-lateness <duration>', field: 'max_lateness_seconds', read: seconds },
    about: 'a run that starts later than this raises an alert',
  },
  { flags: '--deliver-to <target>', field: 'delivery', read: target, about: 'the target its results go to' },
  { flags: '--delete-after-run', field: 'delete_after_run', stands: true, about: 'gone after its last run' },
]
