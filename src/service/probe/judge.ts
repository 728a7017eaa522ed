import { invalid, Refusal } from '../../api/refusals.ts'
import { commandRefusal, NO_COMMANDS } from '../../executors/command/options.ts'
import { unmaskedExecutor } from '../../core/executor/masked.ts'
import { parsed, type Parsed } from '../../domain/input.ts'
import { parseProbe, parseSentProbe, type Probe } from '../../domain/probe/probe.ts'
import type { Caller } from '../caller.ts'
import { parseJson } from '../../domain/input-fields.ts'
import type { Ports } from '../ports.ts'
import { refuseCommand } from '../rails/making.ts'
import { refuseProbeKind } from '../rails/references.ts'

/**
 * Reads the probe that a schedule or a heartbeat is given, as it is kept. Values that are shown hidden are those it had
 * before, while it asks the same place.
 */
export function readProbe(field: string, value: unknown, before: unknown): Parsed<Readonly<Record<string, unknown>>> {
  const stored = parseJson(field, unmaskedExecutor(value, before))
  if (!stored.ok) return stored
  const read = parseProbe(field, stored.value)
  return read.ok ? parsed(stored.value as Readonly<Record<string, unknown>>) : read
}

/** Whether somebody brings a probe that has to be judged. */
export const bringsProbe = (input: { readonly probe?: unknown } | null | undefined): boolean =>
  typeof input === 'object' && input !== null && input.probe !== undefined && input.probe !== null

/**
 * Refuses a probe that asks where nobody may ask, before anything is stored. What is let through now is judged again with
 * every asking. What cannot be read is told of in the turn, with everything else that is wrong.
 */
export async function judgeProbe(
  ports: Pick<Ports, 'outbound' | 'commands'>,
  caller: Caller,
  input: { readonly probe?: unknown } | null | undefined,
): Promise<void> {
  const given = typeof input === 'object' && input !== null ? (input.probe ?? null) : null
  if (given === null) return
  const read = parseSentProbe('probe', given)
  if (read.ok) await judge(ports, caller, read.value)
}

/** Refuses a probe that may not be asked by whoever wants it asked. */
export async function judge(ports: Pick<Ports, 'outbound' | 'commands'>, caller: Caller, probe: Probe): Promise<void> {
  // Before the address is looked up: what a restricted key may not ask is not asked for it.
  if (caller.railed !== undefined) refuseProbeKind(probe.kind)
  if (probe.kind === 'http') {
    const message = await ports.outbound.check(probe.url, 'probe')
    if (message !== null) throw invalid([{ field: 'probe.url', value: probe.url, message }])
  }
  if (probe.kind !== 'command') return
  refuseCommand(caller, 'command')
  // A program runs on the operator's machine, so only an owner of the operator's org says which.
  if (caller.isOperatorOwner !== true)
    throw new Refusal('FORBIDDEN', 'Only an owner of the operator org makes probes that start programs')
  const { program, directory: cwd } = probe
  const refusal = commandRefusal({ program, cwd }, ports.commands?.() ?? NO_COMMANDS)
  if (refusal === null) return
  const { field, message, allowed } = refusal
  const value = field === 'kind' ? 'command' : probe[field === 'cwd' ? 'directory' : field]
  const name = `probe.${field === 'cwd' ? 'directory' : field}`
  throw invalid([{ field: name, value, message, ...(allowed === undefined ? {} : { allowed }) }])
}
