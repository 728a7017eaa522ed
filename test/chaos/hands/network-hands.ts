import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom } from '../../simulation/random.ts'
import type { Hand, Hands, Hit, PlannedFault } from '../faults.ts'
import { cutAfterBytes, cutBehindCommit, loseCommitted, type Trap } from '../network/trap.ts'
import { CLEAR, DIRECTIONS, type Direction } from '../network/weather.ts'
import type { Victims } from './victims.ts'

type NetworkKind = Extract<keyof Hands, `net_${string}`>

/** What becomes of connections when a silent network speaks again. */
const FATES = ['goes on late and whole', 'is reset', 'is forgotten'] as const

const SILENCES: readonly (readonly Direction[])[] = [DIRECTIONS, ['to_server'], ['to_node']]

/** What is done to the road between a node and the server. */
export function networkHands({ nodeAt, proxyAt }: Victims): Pick<Hands, NetworkKind> {
  const silent: Hand = async ({ slot, lastsMs, seed }) => {
    const random = createRandom(seed)
    const directions = random.one(SILENCES)
    const fate = random.one(FATES)
    const proxy = proxyAt(slot)
    proxy.weather({ kind: 'silent', directions })
    await sleep(lastsMs)
    if (fate === 'is reset') proxy.reset()
    if (fate === 'is forgotten') proxy.forget()
    proxy.weather(CLEAR)
    return { process: nodeAt(slot).name, how: `${directions.join(' and ')}, then ${fate}` }
  }
  const sprung = async ({ slot, lastsMs }: PlannedFault, trap: Trap, how: string): Promise<Hit | null> =>
    (await proxyAt(slot).trap(trap, lastsMs)) ? { process: nodeAt(slot).name, how } : null
  return {
    net_reset: async ({ slot, lastsMs }) => {
      const proxy = proxyAt(slot)
      proxy.weather({ kind: 'refusing' })
      const connections = proxy.reset()
      await sleep(lastsMs)
      proxy.weather(CLEAR)
      return { process: nodeAt(slot).name, how: `${connections} connections, and nobody let in for ${lastsMs} ms` }
    },
    net_silent_short: silent,
    net_silent_long: silent,
    net_forgotten: async ({ slot, lastsMs }) => {
      const connections = proxyAt(slot).forget()
      await sleep(lastsMs)
      return { process: nodeAt(slot).name, how: `${connections} connections` }
    },
    net_slow: async ({ slot, lastsMs, seed }) => {
      const random = createRandom(seed)
      const [least, jitter] = [random.int(2, 40), random.int(0, 60)]
      const bytesPerSecond = random.chance(0.5) ? random.int(20_000, 200_000) : null
      proxyAt(slot).weather({ kind: 'slow', delayMs: () => least + random.int(0, jitter), bytesPerSecond })
      await sleep(lastsMs)
      proxyAt(slot).weather(CLEAR)
      const pace = bytesPerSecond === null ? '' : `, ${bytesPerSecond} bytes/s`
      return { process: nodeAt(slot).name, how: `${least} to ${least + jitter} ms${pace}` }
    },
    net_half: ({ slot, seed }) => {
      const direction = createRandom(seed).one(DIRECTIONS)
      const connections = proxyAt(slot).halfClose(direction)
      return Promise.resolve({ process: nodeAt(slot).name, how: `${connections} connections, ${direction}` })
    },
    net_amid: (fault) => {
      const random = createRandom(fault.seed)
      const [bytes, direction] = [random.int(0, 20_000), random.one(DIRECTIONS)]
      return sprung(fault, cutAfterBytes(bytes, direction), `after ${bytes} bytes ${direction}`)
    },
    net_commit: (fault) =>
      createRandom(fault.seed).chance(0.5)
        ? sprung(fault, cutBehindCommit(), 'behind COMMIT')
        : sprung(fault, loseCommitted(), 'committed, and the answer lost'),
  }
}
