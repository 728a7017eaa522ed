import type { HeartbeatInput, HeartbeatLogView, HeartbeatView } from '../../features/heartbeats/schema.ts'
import type { HeartbeatSetParams } from '../../contract/rpc/params.ts'
import type { RpcHeartbeat, RpcHeartbeatEntry } from '../../contract/rpc/heartbeat.ts'
import { invalid, Refusal } from '../../api/refusals.ts'
import type { Flaw } from '../../domain/input.ts'

/** The change of a heartbeat that the params of `heartbeat.set` ask for. What is left out stays. */
export function heartbeatChange(params: HeartbeatSetParams, current: HeartbeatView): HeartbeatInput {
  const { enabled, intervalSec, prompt, ackMaxChars, session, adaptive } = params
  return {
    ...(typeof enabled === 'boolean' ? { enabled } : {}),
    ...(intervalSec === undefined ? {} : { interval_seconds: intervalSec }),
    ...(prompt === undefined ? {} : { prompt: prompt === '' ? null : prompt }),
    ...(ackMaxChars === undefined ? {} : { ack_max_chars: ackMaxChars }),
    ...(session === undefined ? {} : { session: session === '' ? null : session }),
    ...(adaptive === undefined ? {} : { adaptive }),
    ...checklistOf(params),
    ...hoursOf(params, current),
    ...targetOf(params),
  }
}

function checklistOf({ checklist, checklistFile }: HeartbeatSetParams): HeartbeatInput {
  if (checklist !== undefined && checklistFile !== undefined)
    throw invalid([{ field: 'checklistFile', value: checklistFile, message: 'and checklist are two of the same' }])
  if (checklistFile !== undefined) return { checklist: checklistFile === null ? null : { file: checklistFile } }
  if (checklist === undefined) return {}
  return { checklist: checklist === null ? null : { text: checklist } }
}

/** Two texts and a zone; both times empty means always. */
function hoursOf(params: HeartbeatSetParams, { active_hours: now }: HeartbeatView): HeartbeatInput {
  const { activeHoursStart, activeHoursEnd, timezone } = params
  if (activeHoursStart === undefined && activeHoursEnd === undefined && timezone === undefined) return {}
  const start = (activeHoursStart === undefined ? now?.start : activeHoursStart) || undefined
  const end = (activeHoursEnd === undefined ? now?.end : activeHoursEnd) || undefined
  if (start === undefined && end === undefined) return { active_hours: null }
  const zone = (timezone === undefined ? now?.timezone : timezone) || undefined
  // What is missing is said by whoever reads them.
  return {
    active_hours: {
      ...(start === undefined ? {} : { start }),
      ...(end === undefined ? {} : { end }),
      ...(zone === undefined ? {} : { timezone: zone }),
    } as NonNullable<HeartbeatInput['active_hours']>,
  }
}

function targetOf({ target, channel, chatId }: HeartbeatSetParams): HeartbeatInput {
  if (channel === undefined && chatId === undefined) return target === undefined ? {} : { target: target || null }
  if (target !== undefined)
    throw invalid([{ field: 'target', value: target, message: 'and channel are two of the same' }])
  if (!channel && chatId) throw invalid([{ field: 'channel', value: channel, message: 'is missing beside chatId' }])
  return { target: channel ? (chatId ? `${channel}:${chatId}` : channel) : null }
}

/** Where a field of a heartbeat stands in the params. */
const PLACES: Readonly<Record<string, string>> = {
  interval_seconds: 'intervalSec',
  ack_max_chars: 'ackMaxChars',
  'active_hours.start': 'activeHoursStart',
  'active_hours.end': 'activeHoursEnd',
  'active_hours.timezone': 'timezone',
  active_hours: 'activeHoursStart',
  'checklist.text': 'checklist',
  'checklist.file': 'checklistFile',
}

/** Does something with a heartbeat; what is wrong with it is said in the names of the params. */
export async function inHeartbeatParams<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (error instanceof Refusal && error.flaws.length > 0)
      throw invalid(error.flaws.map((flaw): Flaw => ({ ...flaw, field: PLACES[flaw.field] ?? flaw.field })))
    throw error
  }
}

/** A heartbeat as /rpc shows it. */
export function viewRpcHeartbeat(heartbeat: HeartbeatView): RpcHeartbeat {
  const { active_hours: hours, checklist, next_at: next, adaptive } = heartbeat
  return {
    agentId: heartbeat.agent_id,
    enabled: heartbeat.enabled,
    intervalSec: heartbeat.interval_seconds,
    prompt: heartbeat.prompt,
    ...(checklist === null
      ? {}
      : 'text' in checklist
        ? { checklist: checklist.text }
        : { checklistFile: checklist.file }),
    target: heartbeat.target,
    ...(heartbeat.route === null ? {} : { route: heartbeat.route }),
    ...(heartbeat.no_route === null ? {} : { noRoute: heartbeat.no_route }),
    ackMaxChars: heartbeat.ack_max_chars,
    session: heartbeat.session,
    ...(hours === null ? {} : { activeHoursStart: hours.start, activeHoursEnd: hours.end, timezone: hours.timezone }),
    adaptive: adaptive !== null,
    okStreak: heartbeat.ok_streak,
    ...(next === null ? {} : { nextRunAtMs: Date.parse(next) }),
  }
}

/** An entry of the log as /rpc shows it. */
export const viewRpcEntry = (entry: HeartbeatLogView): RpcHeartbeatEntry => ({
  ...{ id: entry.id, ts: Date.parse(entry.at), status: entry.outcome, reason: entry.reason, message: entry.sentence },
  ...(entry.content === null ? {} : { content: entry.content }),
  ...(entry.run_id === null ? {} : { runId: entry.run_id }),
  ...(entry.delivery_status === null ? {} : { deliveryStatus: entry.delivery_status }),
})
