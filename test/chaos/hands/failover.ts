import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom } from '../../simulation/random.ts'
import type { Hit, PlannedFault } from '../faults.ts'
import { CLEAR } from '../network/weather.ts'
import type { Victims } from './victims.ts'

/**
 * The server is killed, and a copy that lacks its last transactions takes its place, as an asynchronous replica would. One
 * node finds it later than the others, who have written new transactions under the numbers of the lost ones by then.
 */
export async function failOver(
  { server, nodeAt, proxyAt }: Victims,
  { slot, lastsMs, seed }: PlannedFault,
): Promise<Hit> {
  const lateMs = createRandom(seed).int(500, 4_000)
  const from = Date.now()
  await server.copy()
  await sleep(lastsMs)
  const late = proxyAt(slot)
  late.weather({ kind: 'refusing' })
  try {
    const until = await server.failOver()
    late.reset()
    const back = Date.now()
    await sleep(lateMs)
    const how = `${until - from} ms lost, ${nodeAt(slot).name} back ${lateMs} ms later`
    return { process: null, how, tail: { from, until, back } }
  } finally {
    late.weather(CLEAR)
  }
}
