import type { OrgId } from '../../core/ids.ts'
import type { ToldTurn } from '../../service/events.ts'
import type { RunOwners } from '../../service/live-port.ts'
import { advance, send, type Client } from './client.ts'
import { asksForOwners, isWanted, type Wanted } from './filter.ts'
import { framesOf, type TurnFrames } from './frames.ts'
import type { Owners } from './owners.ts'

/** What a channel needs of whoever has it. */
export interface ChannelContext {
  readonly orgId: OrgId
  readonly owners: Owners
  readonly askOwners: (ids: readonly string[]) => Promise<ReadonlyMap<string, RunOwners>>
  /** Somebody has to catch up from history. */
  readonly behind: (client: Client) => void
  /** Calls back soon, at most every so often. */
  readonly soon: (flush: () => void) => void
  readonly mostWaiting: number
}

/**
 * Those who listen to an org. What happens is written down once for all who want the same, collected for a moment, and
 * sent to each of them as the same bytes.
 */
export interface Channel {
  readonly clients: Set<Client>
  /** The last turn that was heard of; null before the first. */
  readonly heard: () => number | null
  readonly hear: (turn: ToldTurn) => void
  /** Lets somebody in who has been told everything up to `heard`, or more. */
  readonly join: (client: Client) => void
  readonly leave: (client: Client) => void
}

/** What those who want the same have not been sent yet. */
interface Group {
  readonly wanted: Wanted
  readonly clients: Set<Client>
  parts: { readonly no: number; readonly text: string }[]
}

/** Beyond so many events in line, reading history is better than remembering it. */
const LONGEST_LINE = 50_000

export function createChannel(ctx: ChannelContext): Channel {
  /** Told at once, and told when it is known whose runs they are about. */
  const plain = new Map<string, Group>()
  const owned = new Map<string, Group>()
  const clients = new Set<Client>()
  let heard: number | null = null
  const groupsOf = (wanted: Wanted): Map<string, Group> => (asksForOwners(wanted) ? owned : plain)
  const leave = (client: Client): void => {
    client.live = false
    const groups = groupsOf(client.wanted)
    const group = groups.get(client.wanted.name)
    group?.clients.delete(client)
    if (group?.clients.size === 0) groups.delete(group.wanted.name)
  }
  const sendBack = (groups: Map<string, Group>): void => {
    for (const group of [...groups.values()])
      for (const client of [...group.clients]) {
        leave(client)
        ctx.behind(client)
      }
  }
  const flush = (): void => {
    for (const group of [...plain.values(), ...owned.values()]) flushGroup(group, ctx.mostWaiting)
  }
  const line = createLine(ctx, {
    tell: (turn) => {
      for (const group of owned.values()) collect(group, turn, ctx.owners)
      ctx.soon(flush)
    },
    failed: () => {
      sendBack(owned)
    },
  })
  return {
    clients,
    heard: () => heard,
    hear: (turn) => {
      const isGap = heard !== null && turn.no !== heard + 1
      heard = turn.no
      if (isGap) {
        flush()
        sendBack(plain)
        sendBack(owned)
      }
      if (plain.size + owned.size === 0) return
      const frames = framesOf(ctx.orgId, turn)
      for (const group of plain.values()) collect(group, frames, null)
      if (plain.size > 0) ctx.soon(flush)
      if (owned.size > 0) line.put(frames)
    },
    join: (client) => {
      const groups = groupsOf(client.wanted)
      const { name } = client.wanted
      const group = groups.get(name) ?? { wanted: client.wanted, clients: new Set(), parts: [] }
      groups.set(name, group)
      group.clients.add(client)
      client.live = true
    },
    leave,
  }
}

/** Also when there is nothing in it for them: they have come that far. */
function collect(group: Group, turn: TurnFrames, owners: Owners | null): void {
  let text = ''
  for (const frame of turn.frames) if (isWanted(group.wanted, frame, owners?.of(frame))) text += frame.text()
  group.parts.push({ no: turn.no, text })
}

function flushGroup(group: Group, mostWaiting: number): void {
  const { parts } = group
  const [first, last] = [parts[0], parts.at(-1)]
  if (first === undefined || last === undefined) return
  group.parts = []
  const all = Buffer.from(parts.map(({ text }) => text).join(''))
  for (const client of group.clients) {
    const { no } = client.position
    if (no >= last.no) continue
    // Somebody who has just caught up may already have had the beginning of it.
    const own =
      no < first.no
        ? all
        : parts
            .filter((part) => part.no > no)
            .map(({ text }) => text)
            .join('')
    advance(client, last.no)
    if (own.length > 0) send(client, own, mostWaiting)
  }
}

interface Line {
  readonly put: (turn: TurnFrames) => void
}

/** Turns that wait until it is known whose runs they are about, in order. */
function createLine(
  ctx: ChannelContext,
  to: { readonly tell: (turn: TurnFrames) => void; readonly failed: () => void },
): Line {
  let waiting: TurnFrames[] = []
  let events = 0
  let asking = false
  const tell = (turns: readonly TurnFrames[]): void => {
    for (const turn of turns) {
      to.tell(turn)
      ctx.owners.told(turn.frames)
    }
  }
  const ask = async (): Promise<void> => {
    asking = true
    try {
      while (waiting.length > 0) {
        const turns = waiting
        waiting = []
        events = 0
        const ids = ctx.owners.unknown(turns.flatMap(({ frames }) => frames))
        if (ids.length > 0) ctx.owners.learn(ids, await ctx.askOwners(ids))
        tell(turns)
      }
    } catch {
      waiting = []
      events = 0
      to.failed()
    } finally {
      asking = false
    }
  }
  return {
    put: (turn) => {
      if (!asking && ctx.owners.unknown(turn.frames).length === 0) {
        tell([turn])
        return
      }
      waiting.push(turn)
      events += turn.frames.length
      if (events > LONGEST_LINE) {
        waiting = []
        events = 0
        to.failed()
      } else if (!asking) void ask()
    },
  }
}
