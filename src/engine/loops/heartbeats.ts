import { beatWork, findDueHeartbeats, findNextHeartbeat } from '../../service/heartbeat/beat.ts'
import type { Ports } from '../../service/ports.ts'
import type { HandedIn } from '../handed-in.ts'
import { createLoop, type Loop } from './loop.ts'
import type { NodeParts } from '../node-parts.ts'

/** When agents look after their checklists. What comes of it is decided elsewhere. */
export interface Heartbeats {
  readonly start: () => void
  readonly stop: () => Promise<void>
}

export interface HeartbeatsContext {
  readonly parts: NodeParts
  readonly ports: Pick<Ports, 'database' | 'newId' | 'checklists'>
}

interface Beating extends HeartbeatsContext {
  readonly handed: HandedIn
}

/** The loop that sleeps until the next heartbeat of any agent, and looks once per period in case others change plans. */
export function createHeartbeats(context: HeartbeatsContext): Heartbeats {
  const { ctx, health } = context.parts
  const beating: Beating = { ...context, handed: context.parts.handedIn('heartbeats') }
  const loop: Loop = createLoop(() => beatPass(beating, loop.wake), {
    everyMs: ctx.settings().schedules.pollMs,
    sleep: ctx.sleep,
    onError: (error, failures) => {
      health.failed(error)
      return Math.min(5_000, 50 * 2 ** Math.min(failures, 7)) * (0.5 + ctx.random() / 2)
    },
  })
  return { start: loop.start, stop: loop.stop }
}

/** Decides what is due, in as many turns as orgs, and says when to look again. Waits neither for an org nor for an agent. */
async function beatPass({ parts, ports, handed }: Beating, wake: () => void): Promise<number | undefined> {
  const { ctx, health } = parts
  if (parts.state.draining) return undefined
  const now = ctx.clock.now()
  const due = await findDueHeartbeats(ports, { now, except: handed.busy() })
  health.answered()
  for (const [orgId, readings] of due.byOrg) handed.hand(beatWork(ports, orgId, readings), wake)
  if (due.more) return 0
  const next = await findNextHeartbeat(ports, now)
  return next === null ? undefined : Math.max(0, next - ctx.clock.now())
}
