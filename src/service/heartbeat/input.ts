import { addAll } from '../../core/long-lists.ts'
import { parseHeartbeat, type HeartbeatConfig } from '../../core/heartbeat/heartbeat-config.ts'
import type { AgentId } from '../../core/ids.ts'
import { flawed, parsed, type Flaw, type Parsed } from '../../core/input.ts'
import type { Zone } from '../../core/time/zone.ts'
import { parseJson, parseSessionKey, textField, type Given } from '../../core/input-fields.ts'

/** Longer ones belong into a file. */
const MOST_TEXT = 256 * 1024

const TEXTS = {
  prompt: textField({ min: 1, max: MOST_TEXT }),
  target: textField({ min: 1, max: 600 }),
  session: parseSessionKey,
} as const

const CHECKLIST_TEXTS = {
  text: textField({ min: 0, max: MOST_TEXT }),
  file: textField({ min: 1, max: 1_000 }),
} as const

/** Reads what somebody sends as the heartbeat of an agent. Beyond the core it sees to what a row can hold. */
export function parseHeartbeatInput(
  value: unknown,
  agent: { readonly id: AgentId; readonly timezone: Zone },
): Parsed<HeartbeatConfig> {
  const read = parseHeartbeat('', value, agent)
  if (!read.ok) return read
  const given = value as Given
  const flaws: Flaw[] = [...flawsIn('', given, TEXTS)]
  if (given['checklist'] !== null && given['checklist'] !== undefined)
    addAll(flaws, flawsIn('checklist.', given['checklist'] as Given, CHECKLIST_TEXTS))
  if (read.value.probe !== null) {
    const probe = parseJson('probe', read.value.probe)
    if (!probe.ok) addAll(flaws, probe.flaws)
  }
  return flaws.length > 0 ? flawed(flaws) : parsed(read.value)
}

function flawsIn(
  prefix: string,
  given: Given,
  fields: Readonly<Record<string, (field: string, value: unknown) => Parsed<string>>>,
): readonly Flaw[] {
  return Object.entries(fields).flatMap(([name, parse]) => {
    const value = given[name]
    if (value === undefined || value === null) return []
    const read = parse(`${prefix}${name}`, value)
    return read.ok ? [] : read.flaws
  })
}
