import type { HeartbeatInput } from '../../features/heartbeats/schema.ts'
import { parseActiveHours } from '../../core/heartbeat/active-hours.ts'
import {
  HEARTBEAT_DEFAULTS,
  NO_CHECKLIST,
  parseHeartbeatTarget,
  type Adaptive,
  type Checklist,
  type HeartbeatConfig,
} from '../../domain/heartbeat/heartbeat-config.ts'
import { sessionKey, type AgentId } from '../../domain/ids.ts'
import { flawed, parsed, type Parsed } from '../../domain/input.ts'
import { collectFlaws } from '../../domain/input-fields.ts'
import type { Zone } from '../../core/time/zone.ts'

/** A whole heartbeat: what is missing or null takes its default. Its fields may still contradict each other. */
export function heartbeatConfig(
  given: HeartbeatInput,
  agent: { readonly id: AgentId; readonly timezone?: Zone },
): Parsed<HeartbeatConfig> {
  const { flaws, keep } = collectFlaws()
  const { active_hours: hours = null, target = null } = given
  const checklist = checklistOf(given)
  const intervalSeconds = given.interval_seconds ?? HEARTBEAT_DEFAULTS.intervalSeconds
  const adaptive = adaptiveOf(given.adaptive ?? false, intervalSeconds)
  if (given.enabled === true && checklist === null) flaws.push(NO_CHECKLIST)
  if (adaptive !== null && adaptive.maxIntervalSeconds < intervalSeconds)
    flaws.push({
      field: 'adaptive.max_interval_seconds',
      value: adaptive.maxIntervalSeconds,
      message: 'must not be below interval_seconds',
      allowed: `a whole number from ${intervalSeconds} on`,
    })
  const config: HeartbeatConfig = {
    // A checklist is what a heartbeat is for: setting one switches it on unless the user says otherwise.
    enabled: given.enabled ?? checklist !== null,
    intervalSeconds,
    activeHours: hours === null ? null : keep(parseActiveHours('active_hours', hours, agent.timezone)),
    checklist,
    prompt: given.prompt ?? HEARTBEAT_DEFAULTS.prompt,
    target: (target === null ? null : keep(parseHeartbeatTarget('target', target))) ?? HEARTBEAT_DEFAULTS.target,
    ackMaxChars: given.ack_max_chars ?? HEARTBEAT_DEFAULTS.ackMaxChars,
    session: sessionKey(given.session ?? `agent:${agent.id}:heartbeat:main`),
    adaptive,
    probe: given.probe ?? null,
  }
  return flaws.length > 0 ? flawed(flaws) : parsed(config)
}

function checklistOf({ checklist }: HeartbeatInput): Checklist | null {
  if (checklist === undefined || checklist === null) return null
  return 'text' in checklist ? { kind: 'text', text: checklist.text } : { kind: 'file', file: checklist.file }
}

/** What is left out depends on the interval. */
function adaptiveOf(given: NonNullable<HeartbeatInput['adaptive']>, intervalSeconds: number): Adaptive | null {
  if (given === false) return null
  const { ok_step: okStep, max_interval_seconds: most } = given === true ? {} : given
  return {
    okStep: okStep ?? HEARTBEAT_DEFAULTS.okStep,
    maxIntervalSeconds: most ?? intervalSeconds * HEARTBEAT_DEFAULTS.maxStretch,
  }
}
