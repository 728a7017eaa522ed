import type { RunOwners } from '../../service/live-port.ts'
import type { TurnFrames } from './frames.ts'
import type { Owners } from './owners.ts'

/** Turns that wait until it is known whose runs they are about, in order. */
export interface Line {
  readonly put: (turn: TurnFrames) => void
}

export interface LineContext {
  readonly owners: Owners
  readonly askOwners: (ids: readonly string[]) => Promise<ReadonlyMap<string, RunOwners>>
  readonly tell: (turn: TurnFrames) => void
  /** Turns were left out: whoever waits for them has to read them. */
  readonly failed: () => void
}

/** Beyond so many events in line, reading history is better than remembering it. */
const LONGEST_LINE = 50_000

export function createLine(ctx: LineContext): Line {
  const { owners } = ctx
  let waiting: TurnFrames[] = []
  let events = 0
  let asking = false
  const takeAll = (): readonly TurnFrames[] => {
    const all = waiting
    waiting = []
    events = 0
    return all
  }
  const tell = (turn: TurnFrames): void => {
    ctx.tell(turn)
    owners.told(turn.events)
  }
  const giveUp = (): void => {
    takeAll()
    ctx.failed()
  }
  const ask = async (): Promise<void> => {
    asking = true
    try {
      while (waiting.length > 0) {
        const turns = takeAll()
        const ids = owners.unknown(turns.flatMap((turn) => turn.events))
        if (ids.length > 0) owners.learn(ids, await ctx.askOwners(ids))
        turns.forEach(tell)
      }
    } catch {
      giveUp()
    } finally {
      asking = false
    }
  }
  return {
    put: (turn) => {
      if (!asking && owners.unknown(turn.events).length === 0) {
        tell(turn)
        return
      }
      waiting.push(turn)
      events += turn.events.length
      if (events > LONGEST_LINE) giveUp()
      else if (!asking) void ask()
    },
  }
}
