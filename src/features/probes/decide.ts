import { invalid, Refusal } from '../../api/refusals.ts'
import { commandRefusal, NO_COMMANDS } from '../../executors/command/options.ts'
import { restoreMaskedExecutor } from '../../domain/secret/mask.ts'
import { parsed, type Parsed } from '../../domain/input.ts'
import { parseProbe, parseProbeInput, type Probe } from '../../domain/probe/probe.ts'
import type { Caller } from '../access/caller.ts'
import { parseJson } from '../../domain/input-fields.ts'
import type { Ports } from '../../engine/ports.ts'
import { refuseCommandExecutor } from '../access/restrictions.ts'
import { refuseProbeKind } from '../access/restricted-input.ts'

/**
 * Reads the probe of a schedule or a heartbeat in the form in which it is stored. Masked values are replaced with the
 * stored ones while the probe asks the same place.
 */
export function readProbe(field: string, value: unknown, before: unknown): Parsed<Readonly<Record<string, unknown>>> {
  const stored = parseJson(field, restoreMaskedExecutor(value, before))
  if (!stored.ok) return stored
  const read = parseProbe(field, stored.value)
  return read.ok ? parsed(stored.value as Readonly<Record<string, unknown>>) : read
}

/** Whether the input has a probe that must be validated. */
export const hasProbeInput = (input: { readonly probe?: unknown } | null | undefined): boolean =>
  typeof input === 'object' && input !== null && input.probe !== undefined && input.probe !== null

/**
 * Refuses a probe that the caller may not use, before anything is stored. Its destination is checked again at every run
 * of the probe. A probe that cannot be parsed is reported by the transaction, together with all other flaws.
 */
export async function requireAllowedProbeInput(
  ports: Pick<Ports, 'outbound' | 'commandRules'>,
  caller: Caller,
  input: { readonly probe?: unknown } | null | undefined,
): Promise<void> {
  const value = typeof input === 'object' && input !== null ? (input.probe ?? null) : null
  if (value === null) return
  const read = parseProbeInput('probe', value)
  if (read.ok) await requireAllowedProbe(ports, caller, read.value)
}

/** Refuses a probe that the caller may not use. */
export async function requireAllowedProbe(
  ports: Pick<Ports, 'outbound' | 'commandRules'>,
  caller: Caller,
  probe: Probe,
): Promise<void> {
  // Checked first, so that no address is looked up for a restricted key that may not use the probe.
  if (caller.restricted !== undefined) refuseProbeKind(probe.kind)
  if (probe.kind === 'http') {
    const message = await ports.outbound.check(probe.url, 'probe')
    if (message !== null) throw invalid([{ field: 'probe.url', value: probe.url, message }])
  }
  if (probe.kind !== 'command') return
  refuseCommandExecutor(caller, 'command')
  // A program runs on the operator's machine, so only an owner of the operator org may choose it.
  if (caller.isOperatorOwner !== true)
    throw new Refusal('FORBIDDEN', 'Only an owner of the operator org can create probes that start programs')
  const { program, directory: cwd } = probe
  const refusal = commandRefusal({ program, cwd }, ports.commandRules?.() ?? NO_COMMANDS)
  if (refusal === null) return
  const { field, message, allowed } = refusal
  const value = field === 'kind' ? 'command' : probe[field === 'cwd' ? 'directory' : field]
  const name = `probe.${field === 'cwd' ? 'directory' : field}`
  throw invalid([{ field: name, value, message, ...(allowed === undefined ? {} : { allowed }) }])
}
