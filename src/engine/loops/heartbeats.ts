import { dueHeartbeatsCommand, findDueHeartbeats, findNextHeartbeat } from '../../features/heartbeats/run-heartbeat.ts'
import type { Ports } from '../ports.ts'
import type { LoopCommands } from '../handed-in.ts'
import { createLoop, type Loop } from './loop.ts'
import type { NodeParts } from '../node-parts.ts'

/** Starts due heartbeats of agents. What follows is decided in `features/heartbeats`. */
export interface Heartbeats {
  readonly start: () => void
  readonly stop: () => Promise<void>
}

export interface HeartbeatsContext {
  readonly parts: NodeParts
  readonly ports: Pick<Ports, 'database' | 'newId' | 'checklists'>
}

interface HeartbeatPassContext extends HeartbeatsContext {
  readonly commands: LoopCommands
}

/** Creates the loop that sleeps until the next heartbeat of any agent, and checks once per period for changed plans. */
export function createHeartbeats(context: HeartbeatsContext): Heartbeats {
  const { ctx, health } = context.parts
  const passContext: HeartbeatPassContext = { ...context, commands: context.parts.loopCommands('heartbeats') }
  const loop: Loop = createLoop(() => heartbeatPass(passContext, loop.wake), {
    everyMs: ctx.settings().schedules.pollMs,
    sleep: ctx.sleep,
    onError: (error, failures) => {
      health.failed(error)
      return Math.min(5_000, 50 * 2 ** Math.min(failures, 7)) * (0.5 + ctx.random() / 2)
    },
  })
  return { start: loop.start, stop: loop.stop }
}

/**
 * Decides what is due, in one transaction per org, and returns when to run next. It waits neither for an org nor for an
 * agent.
 */
async function heartbeatPass(
  { parts, ports, commands }: HeartbeatPassContext,
  wake: () => void,
): Promise<number | undefined> {
  const { ctx, health } = parts
  if (parts.state.draining) return undefined
  const now = ctx.clock.now()
  const due = await findDueHeartbeats(ports, { now, except: commands.busy() })
  health.answered()
  for (const [orgId, readings] of due.byOrg) commands.submit(dueHeartbeatsCommand(ports, orgId, readings), wake)
  if (due.more) return 0
  const next = await findNextHeartbeat(ports, now)
  return next === null ? undefined : Math.max(0, next - ctx.clock.now())
}
