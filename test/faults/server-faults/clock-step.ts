import { HOUR_MS, MINUTE_MS } from '../../../src/domain/instant.ts'
import type { World } from '../shapes.ts'

/** The server's clock is set, by seconds to hours, or set right. */
export function stepClock(world: World): void {
  const { random } = world
  const sign = random.one([-1, 1])
  const far = random.one([0, 0, 1, 2, 3])
  const [fewest, most] = (
    [
      [0, 0],
      [1_000, 20_000],
      [MINUTE_MS, 20 * MINUTE_MS],
      [HOUR_MS, 2 * HOUR_MS],
    ] as const
  )[far] ?? [0, 0]
  world.skewMs = sign * random.int(fewest, most)
  world.faults.clock_step += 1
  world.tell(`the server's clock is set to ${world.skewMs} ms from the right time`)
}
