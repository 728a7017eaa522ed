import { parseInstant, formatInstant, instant, isFormattable } from '../instant.ts'
import { parseJsonText, withoutComments } from '../json.ts'

/** A job of OpenClaw's scheduler as a schedule. */
export interface PlannedClawJob {
  /** The number of the job in the file, from 1. */
  readonly line: number
  readonly text: string
  readonly identity: string
  readonly name: string
  readonly description: string
  /** The agent id in the file; null if it has none. */
  readonly agent: string | null
  /** Fields of the schedule, without agent and delivery. */
  readonly fields: Readonly<Record<string, unknown>>
  readonly enabled: boolean
  /** Where results were sent: a URL or a description of the destination; null if they were not sent. */
  readonly delivery: { readonly url: string } | { readonly place: string } | null
  readonly notes: readonly string[]
}

/** A job that cannot become a schedule. */
export interface RefusedClawJob {
  readonly line: number
  readonly text: string
  readonly name: string | null
  readonly refused: string
}

export type ClawJob = PlannedClawJob | RefusedClawJob

type JsonRecord = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is JsonRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const textValue = (value: unknown): string | null =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : null
const objectValue = (value: unknown): JsonRecord => (isObject(value) ? value : {})

/** Whether it is a job of GoClaw. Its `cron.list` has slightly different fields. */
const isGoClawJob = (job: JsonRecord): boolean => objectValue(job['payload'])['kind'] === 'agent_turn'

/** Parses a jobs file. Returns a message if it is not one. */
export function parseClawJobs(text: string): readonly ClawJob[] | string {
  const read = parseJsonText(withoutComments(text.replace(/^\uFEFF/u, '')))
  if ('flaw' in read) return `is not JSON: ${read.flaw}`
  const file = read.value
  const jobs = Array.isArray(file) ? (file as readonly unknown[]) : objectValue(file)['jobs']
  if (!Array.isArray(jobs)) return 'has no list of jobs; use cron/jobs.json in the OpenClaw directory'
  return jobs.map((job: unknown, index) => parseClawJob(job, index + 1))
}

function parseClawJob(value: unknown, line: number): ClawJob {
  const shown = JSON.stringify(value)
  const text = shown.length > MAX_SHOWN_JOB ? `${shown.slice(0, MAX_SHOWN_JOB)}…` : shown
  if (!isObject(value)) return { line, text, name: null, refused: 'is not an object' }
  const job = isObject(value['job']) ? value['job'] : value
  const name = textValue(job['name'])
  const id = textValue(job['id']) ?? textValue(job['jobId'])
  const refuse = (refused: string): RefusedClawJob => ({ line, text, name, refused })
  const timing = timingFieldsOf(objectValue(job['schedule']), job)
  if (typeof timing === 'string') return refuse(timing)
  const task = promptOf(job)
  if (typeof task === 'string') return refuse(task)
  const session = sessionFieldsOf(job)
  if (typeof session === 'string') return refuse(session)
  const delivery = clawDeliveryOf(job)
  return {
    ...{ line, text, identity: id ?? JSON.stringify([name, task.fields]) },
    name: name ?? firstLine(task.prompt),
    description: textValue(job['description']) ?? '',
    agent: textValue(job['agentId']),
    fields: { ...timing.fields, ...task.fields, ...session.fields, ...lifetimeFieldsOf(job) },
    enabled: job['enabled'] !== false,
    delivery: delivery.to,
    notes: [...timing.notes, ...task.notes, ...session.notes, ...delivery.notes, ...alertNotes(job)],
  }
}

const MAX_SHOWN_JOB = 200
const MAX_JOB_NAME = 60

const firstLine = (text: string): string => {
  const [line = ''] = text.trim().split('\n', 1)
  return line.length <= MAX_JOB_NAME ? line : `${line.slice(0, MAX_JOB_NAME - 1).trimEnd()}…`
}

interface FoundFields {
  readonly fields: JsonRecord
  readonly notes: readonly string[]
}

const timeText = (value: unknown): string | null => {
  if (typeof value === 'number') return isFormattable(value) ? formatInstant(instant(value)) : null
  const text = textValue(value)
  if (text === null) return null
  // OpenClaw treats a time without an offset as UTC.
  const read = parseInstant(
    'at',
    /(?:Z|[+-]\d{2}:\d{2})$/iu.test(text)
      ? text
      : `${text.length === 10 ? `${text}T00:00:00` : text.length === 16 ? `${text}:00` : text}Z`,
  )
  return read.ok ? formatInstant(read.value) : null
}

function timingFieldsOf(schedule: JsonRecord, job: JsonRecord): FoundFields | string {
  const kind = textValue(schedule['kind']) ?? inferKind(schedule)
  if (kind === 'at') {
    const at = timeText(schedule['at'] ?? schedule['atMs'])
    return at === null ? 'schedule.at is not a time' : { fields: { at }, notes: [] }
  }
  if (kind === 'every') {
    const ms = schedule['everyMs']
    if (typeof ms !== 'number' || !Number.isInteger(ms)) return 'schedule.everyMs is not a whole number'
    const anchor = timeText(schedule['anchorMs']) ?? timeText(job['createdAtMs'])
    const every = ms % 1000 === 0 ? { every_seconds: ms / 1000 } : { everyMs: ms }
    return { fields: { ...every, ...(anchor === null ? {} : { anchor }) }, notes: [] }
  }
  if (kind !== 'cron')
    return `schedule.kind ${kind ?? 'is missing, and no other field sets a time'}${kind === null ? '' : ' is not one of at, every, cron'}`
  const cron = textValue(schedule['expr']) ?? textValue(schedule['cron'])
  if (cron === null) return 'schedule.expr is missing'
  const zone = textValue(schedule['tz'])
  const stagger = schedule['staggerMs']
  const jitter = typeof stagger === 'number' && stagger > 0 ? { jitter_ms: Math.floor(stagger) } : {}
  const isTopOfHour = /^(?:0\s+)?0\s+\*(?:\/\d+)?\s/u.test(cron) && stagger === undefined && !isGoClawJob(job)
  return {
    fields: { cron, ...(zone === null ? {} : { timezone: zone }), ...jitter },
    notes: isTopOfHour
      ? ['OpenClaw delays it by up to 5 minutes after the hour; here it is exact unless you set jitter_ms']
      : [],
  }
}

function inferKind(schedule: JsonRecord): string | null {
  if (schedule['at'] !== undefined || schedule['atMs'] !== undefined) return 'at'
  if (schedule['everyMs'] !== undefined) return 'every'
  return schedule['expr'] !== undefined || schedule['cron'] !== undefined ? 'cron' : null
}

/** Settings of an OpenClaw turn that are settings of the agent here. */
const AGENT_SETTINGS = [
  'model',
  'fallbacks',
  'thinking',
  'lightContext',
  'toolsAllow',
  'allowUnsafeExternalContent',
  'externalContentSource',
]

function promptOf(job: JsonRecord): (FoundFields & { readonly prompt: string }) | string {
  const payload = objectValue(job['payload'])
  const kind =
    textValue(payload['kind'])?.toLowerCase().replace('_', '') ??
    (textValue(payload['message']) === null ? 'systemevent' : 'agentturn')
  if (kind !== 'systemevent' && kind !== 'agentturn')
    return `payload.kind ${textValue(payload['kind']) ?? ''} does not start an agent; create an agent with a command or http executor and a schedule for it`
  const prompt =
    textValue(kind === 'agentturn' ? payload['message'] : payload['text']) ??
    textValue(payload['text']) ??
    textValue(payload['message'])
  if (prompt === null) return `payload.${kind === 'agentturn' ? 'message' : 'text'} is missing`
  const timeout = payload['timeoutSeconds']
  const limit = typeof timeout === 'number' && timeout >= 1 ? { timeout_seconds: Math.floor(timeout) } : {}
  const left = AGENT_SETTINGS.filter((name) => payload[name] !== undefined && payload[name] !== null)
  return {
    ...{ prompt, fields: { payload: { prompt }, ...limit } },
    notes: left.map((name) => `payload.${name} is not carried over: it is a setting of the agent here`),
  }
}

function sessionFieldsOf(job: JsonRecord): FoundFields | string {
  const target = textValue(job['sessionTarget']) ?? defaultSession(job)
  const key = textValue(job['sessionKey'])
  const wakeMode = textValue(job['wakeMode'])
  const notes =
    wakeMode === 'next-heartbeat'
      ? ['wakeMode next-heartbeat is not carried over: the schedule runs at its own time, not at the next heartbeat']
      : []
  if (target === 'isolated') return { fields: { session: 'isolated' }, notes }
  if (target === 'main') return { fields: { session: 'main' }, notes }
  if (target.startsWith('session:')) return { fields: { session: target.slice('session:'.length) }, notes }
  if (target === 'current' && key !== null) return { fields: { session: key }, notes }
  return `sessionTarget ${target} is not one of main, isolated, session:<id>`
}

/** OpenClaw runs turns in an isolated session and events in the main one; GoClaw decides by `stateless`. */
function defaultSession(job: JsonRecord): 'isolated' | 'main' {
  if (isGoClawJob(job)) return job['stateless'] === false ? 'main' : 'isolated'
  return textValue(objectValue(job['payload'])['kind']) === 'agentTurn' ? 'isolated' : 'main'
}

function lifetimeFieldsOf(job: JsonRecord): JsonRecord {
  const isDeleted = job['deleteAfterRun']
  return typeof isDeleted === 'boolean' ? { delete_after_run: isDeleted } : {}
}

interface ClawDelivery {
  readonly to: PlannedClawJob['delivery']
  readonly notes: readonly string[]
}

/** Older files have the delivery in the payload, GoClaw next to it. */
function clawDeliveryOf(job: JsonRecord): ClawDelivery {
  const beside = { deliver: job['deliver'], channel: job['deliverChannel'], to: job['deliverTo'] }
  const payload = isGoClawJob(job) && job['deliver'] === true ? beside : objectValue(job['payload'])
  const isOld = payload['deliver'] === true || payload['channel'] !== undefined || payload['to'] !== undefined
  const given = isObject(job['delivery'])
    ? job['delivery']
    : isOld
      ? { mode: payload['deliver'] === false ? 'none' : 'announce', ...payload }
      : null
  if (given === null) return { to: null, notes: [] }
  const mode = textValue(given['mode']) ?? 'announce'
  const [channel, to] = [textValue(given['channel']), textValue(given['to'])]
  if (mode === 'none') return { to: null, notes: [] }
  if (mode === 'webhook' && to !== null) return { to: { url: to }, notes: [] }
  return { to: { place: [channel ?? 'the last channel', to].filter((word) => word !== null).join(' ') }, notes: [] }
}

const alertNotes = (job: JsonRecord): readonly string[] =>
  isObject(job['failureAlert'])
    ? ['failureAlert is not carried over: set alert_after and a target that receives alerts']
    : []
