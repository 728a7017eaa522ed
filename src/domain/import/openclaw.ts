import { parseInstant, formatInstant, instant, isWritten } from '../instant.ts'
import { readJson } from '../../core/json.ts'
import { withoutComments } from '../../core/json-comments.ts'

/** A job of OpenClaw's scheduler, as the schedule it would be. */
export interface PlannedClawJob {
  /** The how manieth of the file, from 1 on. */
  readonly line: number
  readonly text: string
  readonly identity: string
  readonly name: string
  readonly description: string
  /** Whom it names there; null: nobody. */
  readonly agent: string | null
  /** Fields of a schedule, without its agent and its delivery. */
  readonly fields: Readonly<Record<string, unknown>>
  readonly enabled: boolean
  /** Where its results went: an address, another place in words, or null for nowhere. */
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

type Json = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)
const textIn = (value: unknown): string | null =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : null
const objectIn = (value: unknown): Json => (isObject(value) ? value : {})

/** GoClaw's jobs, as its `cron.list` shows them, differ in a few words. */
const isOfGoClaw = (job: Json): boolean => objectIn(job['payload'])['kind'] === 'agent_turn'

/** Reads a jobs file; a sentence instead says why it is none. */
export function readClawJobs(text: string): readonly ClawJob[] | string {
  const read = readJson(withoutComments(text.replace(/^\uFEFF/u, '')))
  if ('flaw' in read) return `is not JSON: ${read.flaw}`
  const file = read.value
  const jobs = Array.isArray(file) ? (file as readonly unknown[]) : objectIn(file)['jobs']
  if (!Array.isArray(jobs)) return 'has no list of jobs; the file is cron/jobs.json in the directory of OpenClaw'
  return jobs.map((job: unknown, index) => readJob(job, index + 1))
}

function readJob(value: unknown, line: number): ClawJob {
  const shown = JSON.stringify(value)
  const text = shown.length > MOST_SHOWN ? `${shown.slice(0, MOST_SHOWN)}…` : shown
  if (!isObject(value)) return { line, text, name: null, refused: 'is no object' }
  const job = isObject(value['job']) ? value['job'] : value
  const name = textIn(job['name'])
  const id = textIn(job['id']) ?? textIn(job['jobId'])
  const refuse = (refused: string): RefusedClawJob => ({ line, text, name, refused })
  const timing = timingOf(objectIn(job['schedule']), job)
  if (typeof timing === 'string') return refuse(timing)
  const work = workOf(job)
  if (typeof work === 'string') return refuse(work)
  const session = sessionOf(job)
  if (typeof session === 'string') return refuse(session)
  const delivery = deliveryOf(job)
  return {
    ...{ line, text, identity: id ?? JSON.stringify([name, work.fields]) },
    name: name ?? firstLine(work.prompt),
    description: textIn(job['description']) ?? '',
    agent: textIn(job['agentId']),
    fields: { ...timing.fields, ...work.fields, ...session.fields, ...lifeOf(job) },
    enabled: job['enabled'] !== false,
    delivery: delivery.to,
    notes: [...timing.notes, ...work.notes, ...session.notes, ...delivery.notes, ...alertNotes(job)],
  }
}

const MOST_SHOWN = 200
const MOST_NAME = 60

const firstLine = (text: string): string => {
  const [line = ''] = text.trim().split('\n', 1)
  return line.length <= MOST_NAME ? line : `${line.slice(0, MOST_NAME - 1).trimEnd()}…`
}

interface Found {
  readonly fields: Json
  readonly notes: readonly string[]
}

const momentIn = (value: unknown): string | null => {
  if (typeof value === 'number') return isWritten(value) ? formatInstant(instant(value)) : null
  const text = textIn(value)
  if (text === null) return null
  // There a time without an offset is one of UTC.
  const read = parseInstant(
    'at',
    /(?:Z|[+-]\d{2}:\d{2})$/iu.test(text)
      ? text
      : `${text.length === 10 ? `${text}T00:00:00` : text.length === 16 ? `${text}:00` : text}Z`,
  )
  return read.ok ? formatInstant(read.value) : null
}

function timingOf(schedule: Json, job: Json): Found | string {
  const kind = textIn(schedule['kind']) ?? kindBy(schedule)
  if (kind === 'at') {
    const at = momentIn(schedule['at'] ?? schedule['atMs'])
    return at === null ? 'schedule.at is no time' : { fields: { at }, notes: [] }
  }
  if (kind === 'every') {
    const ms = schedule['everyMs']
    if (typeof ms !== 'number' || !Number.isInteger(ms)) return 'schedule.everyMs is no whole number'
    const anchor = momentIn(schedule['anchorMs']) ?? momentIn(job['createdAtMs'])
    const every = ms % 1000 === 0 ? { every_seconds: ms / 1000 } : { everyMs: ms }
    return { fields: { ...every, ...(anchor === null ? {} : { anchor }) }, notes: [] }
  }
  if (kind !== 'cron')
    return `schedule.kind ${kind ?? 'is missing, and nothing else says when'}${kind === null ? '' : ' is not one of at, every, cron'}`
  const cron = textIn(schedule['expr']) ?? textIn(schedule['cron'])
  if (cron === null) return 'schedule.expr is missing'
  const zone = textIn(schedule['tz'])
  const stagger = schedule['staggerMs']
  const jitter = typeof stagger === 'number' && stagger > 0 ? { jitter_ms: Math.floor(stagger) } : {}
  const isTopOfHour = /^(?:0\s+)?0\s+\*(?:\/\d+)?\s/u.test(cron) && stagger === undefined && !isOfGoClaw(job)
  return {
    fields: { cron, ...(zone === null ? {} : { timezone: zone }), ...jitter },
    notes: isTopOfHour
      ? ['OpenClaw spreads it over up to 5 minutes behind the hour; here it is exact unless it gets jitter_ms']
      : [],
  }
}

function kindBy(schedule: Json): string | null {
  if (schedule['at'] !== undefined || schedule['atMs'] !== undefined) return 'at'
  if (schedule['everyMs'] !== undefined) return 'every'
  return schedule['expr'] !== undefined || schedule['cron'] !== undefined ? 'cron' : null
}

/** Settings of a turn that belong to the agent here. */
const OF_AGENT = [
  'model',
  'fallbacks',
  'thinking',
  'lightContext',
  'toolsAllow',
  'allowUnsafeExternalContent',
  'externalContentSource',
]

function workOf(job: Json): (Found & { readonly prompt: string }) | string {
  const payload = objectIn(job['payload'])
  const kind =
    textIn(payload['kind'])?.toLowerCase().replace('_', '') ??
    (textIn(payload['message']) === null ? 'systemevent' : 'agentturn')
  if (kind !== 'systemevent' && kind !== 'agentturn')
    return `payload.kind ${textIn(payload['kind']) ?? ''} starts no agent: make an agent with a command or http executor, and a schedule for it`
  const prompt =
    textIn(kind === 'agentturn' ? payload['message'] : payload['text']) ??
    textIn(payload['text']) ??
    textIn(payload['message'])
  if (prompt === null) return `payload.${kind === 'agentturn' ? 'message' : 'text'} is missing`
  const timeout = payload['timeoutSeconds']
  const limit = typeof timeout === 'number' && timeout >= 1 ? { timeout_seconds: Math.floor(timeout) } : {}
  const left = OF_AGENT.filter((name) => payload[name] !== undefined && payload[name] !== null)
  return {
    ...{ prompt, fields: { payload: { prompt }, ...limit } },
    notes: left.map((name) => `payload.${name} is not carried over: the agent decides it here`),
  }
}

function sessionOf(job: Json): Found | string {
  const target = textIn(job['sessionTarget']) ?? usualSession(job)
  const key = textIn(job['sessionKey'])
  const wake = textIn(job['wakeMode'])
  const notes =
    wake === 'next-heartbeat'
      ? ['wakeMode next-heartbeat is not carried over: it runs at its moment and waits for no heartbeat']
      : []
  if (target === 'isolated') return { fields: { session: 'isolated' }, notes }
  if (target === 'main') return { fields: { session: 'main' }, notes }
  if (target.startsWith('session:')) return { fields: { session: target.slice('session:'.length) }, notes }
  if (target === 'current' && key !== null) return { fields: { session: key }, notes }
  return `sessionTarget ${target} is not one of main, isolated, session:<id>`
}

/** There a turn has a session of its own, and an event is told to the main one; in GoClaw `stateless` says which. */
function usualSession(job: Json): 'isolated' | 'main' {
  if (isOfGoClaw(job)) return job['stateless'] === false ? 'main' : 'isolated'
  return textIn(objectIn(job['payload'])['kind']) === 'agentTurn' ? 'isolated' : 'main'
}

function lifeOf(job: Json): Json {
  const keeps = job['deleteAfterRun']
  return typeof keeps === 'boolean' ? { delete_after_run: keeps } : {}
}

interface ClawDelivery {
  readonly to: PlannedClawJob['delivery']
  readonly notes: readonly string[]
}

/** Older files have it in the payload, GoClaw beside it. */
function deliveryOf(job: Json): ClawDelivery {
  const beside = { deliver: job['deliver'], channel: job['deliverChannel'], to: job['deliverTo'] }
  const payload = isOfGoClaw(job) && job['deliver'] === true ? beside : objectIn(job['payload'])
  const isOld = payload['deliver'] === true || payload['channel'] !== undefined || payload['to'] !== undefined
  const given = isObject(job['delivery'])
    ? job['delivery']
    : isOld
      ? { mode: payload['deliver'] === false ? 'none' : 'announce', ...payload }
      : null
  if (given === null) return { to: null, notes: [] }
  const mode = textIn(given['mode']) ?? 'announce'
  const [channel, to] = [textIn(given['channel']), textIn(given['to'])]
  if (mode === 'none') return { to: null, notes: [] }
  if (mode === 'webhook' && to !== null) return { to: { url: to }, notes: [] }
  return { to: { place: [channel ?? 'the last channel', to].filter((word) => word !== null).join(' ') }, notes: [] }
}

const alertNotes = (job: Json): readonly string[] =>
  isObject(job['failureAlert'])
    ? ['failureAlert is not carried over: set alert_after, and a target that gets alerts']
    : []
