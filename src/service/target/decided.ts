import type { TargetInput, TargetPatch } from '../../features/targets/schema.ts'
import { DEFAULT_TARGET_KIND, parseTargetSettings, targetUrlFlaws } from '../../core/delivery/target-kinds.ts'
import { flawed, parsed, type Parsed } from '../../domain/input.ts'
import type { TargetRow } from '../../store/targets.ts'

/** What a person decides about a target. */
export type DecidedTarget = Pick<TargetRow, 'name' | 'kind' | 'url' | 'settings' | 'quietHours' | 'alerts'> & {
  readonly enabled: boolean
}

const NEW = { name: '', url: '', settings: {}, quietHours: null, alerts: false, enabled: true }

/** A new target, or a change of one: what a change leaves out stays. Whether its address may be called is not asked. */
export function decideTarget(
  given: TargetPatch & Pick<TargetInput, 'kind'>,
  existing: DecidedTarget | null,
): Parsed<DecidedTarget> {
  const before = existing ?? { ...NEW, kind: given.kind ?? DEFAULT_TARGET_KIND }
  const { kind } = before
  const isKept = given.settings === undefined && existing !== null
  const settings = isKept ? parsed(before.settings) : parseTargetSettings(kind, given.settings)
  const flaws = targetUrlFlaws(kind, given.url, existing === null)
  if (!settings.ok) return flawed([...flaws, ...settings.flaws])
  if (flaws.length > 0) return flawed(flaws)
  const { name = before.name, url = before.url, alerts = before.alerts, enabled = before.enabled } = given
  const { quiet_hours: quietHours = before.quietHours } = given
  return parsed({ name, kind, url, settings: settings.value, quietHours, alerts, enabled })
}
