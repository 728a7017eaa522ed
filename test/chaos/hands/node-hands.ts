import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom } from '../../simulation/random.ts'
import type { Child } from '../child.ts'
import type { Hand, Hands, PlannedFault } from '../faults.ts'
import type { NodeOrders, NodeSaid } from '../node-process.ts'
import type { Victims } from './victims.ts'

const FREEZE_WITHIN_MS = 250

/** What is done to a process: it dies, stands still, or does not know what time it is. */
export function nodeHands({ nodeAt, doomAt, launch }: Victims): Pick<Hands, NodeKind> {
  const stop: Hand = async (fault) => {
    const { name, child } = nodeAt(fault.slot)
    const amid = fault.kind === 'stop_long' && createRandom(fault.seed).chance(0.5)
    if (amid) await freezeAmid(child)
    child.signal('SIGSTOP')
    await sleep(fault.lastsMs).finally(() => child.signal('SIGCONT'))
    return { process: name, how: amid ? 'while it started work' : 'wherever it was' }
  }
  return {
    kill: async ({ slot, lastsMs }) => {
      const { name, child } = doomAt(slot)
      child.signal('SIGKILL')
      await child.ended
      await sleep(lastsMs)
      await launch(slot)
      return { process: name }
    },
    stop_short: stop,
    stop_long: stop,
    clock_step: async (fault) => {
      const { name, child } = nodeAt(fault.slot)
      const set = (clockOffMs: number): void => child.tell({ clockOffMs } satisfies NodeOrders)
      const steps = clockSteps(fault)
      for (const step of steps) {
        set(step)
        await sleep(fault.lastsMs / steps.length)
      }
      set(0)
      return { process: name, how: `${steps.map((step) => `${(step / 60_000).toFixed(1)} min`).join(', then ')} off` }
    },
  }
}

type NodeKind = 'kill' | 'stop_short' | 'stop_long' | 'clock_step'

const LONGEST_STEP_MS = 30 * 60_000

/** Forwards and backwards, in an order that chance decides; the way back to the truth is a third step. */
export function clockSteps({ seed }: Pick<PlannedFault, 'seed'>): readonly [number, number] {
  const random = createRandom(seed)
  const forwards = random.int(60_000, LONGEST_STEP_MS)
  const backwards = -random.int(60_000, LONGEST_STEP_MS)
  return random.chance(0.5) ? [forwards, backwards] : [backwards, forwards]
}

/** Has the node stop itself while it starts work. One that starts nothing in time is stopped like any other. */
async function freezeAmid(child: Child<NodeSaid>): Promise<void> {
  child.tell({ freezeBefore: Date.now() + FREEZE_WITHIN_MS } satisfies NodeOrders)
  // An order that is read too late must not freeze a node that nobody wakes any more.
  await sleep(FREEZE_WITHIN_MS + 20)
}
