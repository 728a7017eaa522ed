import { createHash } from 'node:crypto'
import type { OrgId, RunId } from '../../core/ids.ts'
import { privateHeaders } from '../../core/executor/masked.ts'
import type { Probe } from '../../core/probe/probe.ts'
import { judgeSight, type Sight, type Verdict } from '../../core/probe/verdict.ts'
import { createMask } from '../../core/secret/mask.ts'
import type { Ports } from '../ports.ts'
import { seeState } from './state-sight.ts'

/** What asking needs. */
export type Asking = Pick<Ports, 'database' | 'clock' | 'look'>

/** For whom a probe is asked. */
export interface AskedFor {
  readonly orgId: OrgId
  readonly scheduleId: string | null
  readonly session: string | null
  readonly runId: RunId | null
  /** What the last asking saw whose run succeeded. */
  readonly before: string | null
  readonly signal: AbortSignal
}

/** Asks a probe once and judges what was seen. Nothing is put on record. */
export async function ask(ports: Asking, probe: Probe, of: AskedFor): Promise<Verdict> {
  const verdict = judgeSight(probe, await see(ports, probe, of), { before: of.before, digest })
  if (probe.kind !== 'http') return verdict
  // Whoever is sent a credential may say it back.
  const hidden = privateHeaders(probe.headers)
  if (hidden.length === 0) return verdict
  const mask = createMask(hidden)
  return { ...verdict, ...(mask.value({ sentence: verdict.sentence, seen: verdict.seen }) as typeof verdict) }
}

const digest = (text: string): string => createHash('sha256').update(text).digest('base64url')

function see(ports: Asking, probe: Probe, of: AskedFor): Promise<Sight> {
  if (probe.kind === 'state') return seeState(ports.database, probe, { ...of, now: ports.clock.now() })
  return ports.look?.(probe, of.signal) ?? Promise.resolve(NOBODY_LOOKS)
}

const NOBODY_LOOKS: Sight = { kind: 'failed', message: 'this server cannot ask anybody outside' }
