import type { OrgId } from '../../domain/ids.ts'
import type { ToldTurn } from '../../service/events.ts'
import type { RunOwners } from '../../service/live-port.ts'
import { send, type Client } from './client.ts'
import { createDirectory, type Directory, type Group } from './directory.ts'
import { asksForOwners, type Wanted } from '../../server/events/filter.ts'
import { framesOf, type TurnFrames } from './frames.ts'
import { createLine } from './line.ts'
import type { Owners } from './owners.ts'
import { wholeTurn } from './position.ts'

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
 * sent to each of them as the same bytes. A turn that is of interest to nobody costs nobody anything.
 */
export interface Channel {
  readonly clients: Set<Client>
  /** The last turn that was heard of or that the first of them had been told; null before either. */
  readonly heard: () => number | null
  readonly hear: (turn: ToldTurn) => void
  /** Lets somebody in who has been told everything up to `heard`, or more. */
  readonly join: (client: Client) => void
  readonly leave: (client: Client) => void
  /** The turn up to which somebody who is live has been told everything. */
  readonly toldUpTo: (client: Client) => number
}

/** Groups that are told of a turn at the same time: at once, or when it is known whose runs it is about. */
interface Branch {
  readonly directory: Directory
  /** Groups that have something to be sent. */
  readonly dirty: Set<Group>
  /** Turns up to here have been collected, and those up to there have been sent. */
  collected: number
  sent: number
}

const createBranch = (): Branch => ({ directory: createDirectory(), dirty: new Set(), collected: 0, sent: 0 })

export function createChannel(ctx: ChannelContext): Channel {
  const [plain, owned] = [createBranch(), createBranch()]
  const branchOf = (wanted: Wanted): Branch => (asksForOwners(wanted) ? owned : plain)
  const toldUpTo = (client: Client): number =>
    client.live ? Math.max(client.position.no, branchOf(client.wanted).sent) : client.position.no
  const leave = (client: Client): void => {
    if (!client.live) return
    client.position = wholeTurn(toldUpTo(client))
    client.live = false
    const { directory, dirty } = branchOf(client.wanted)
    const group = directory.groups.get(client.wanted.name)
    group?.clients.delete(client)
    if (group?.clients.size !== 0) return
    directory.remove(group)
    dirty.delete(group)
  }
  const sendBack = ({ directory }: Branch): void => {
    const clients = [...directory.groups.values()].flatMap((group) => [...group.clients])
    for (const client of clients) {
      leave(client)
      ctx.behind(client)
    }
  }
  const flush = (): void => {
    flushBranch(plain, ctx.mostWaiting)
    flushBranch(owned, ctx.mostWaiting)
  }
  const tell = (branch: Branch, turn: TurnFrames, owners: Owners | null): void => {
    if (collect(branch, turn, owners)) ctx.soon(flush)
  }
  const line = createLine({
    ...{ owners: ctx.owners, askOwners: ctx.askOwners, failed: () => sendBack(owned) },
    tell: (turn) => tell(owned, turn, ctx.owners),
  })
  let heard: number | null = null
  return {
    clients: new Set(),
    ...{ heard: () => heard, leave, toldUpTo },
    hear: (turn) => {
      const isGap = heard !== null && turn.no > heard + 1
      heard = Math.max(heard ?? 0, turn.no)
      if (isGap) {
        flush()
        sendBack(plain)
        sendBack(owned)
      }
      const [some, more] = [plain.directory.groups.size > 0, owned.directory.groups.size > 0]
      if (!some && !more) return
      const frames = framesOf(ctx.orgId, turn)
      if (some) tell(plain, frames, null)
      if (more) line.put(frames)
    },
    join: (client) => {
      branchOf(client.wanted).directory.groupOf(client.wanted).clients.add(client)
      client.live = true
      // From here on the first of them knows what comes next.
      heard ??= client.position.no
    },
  }
}

/** Writes down what a turn has for each group. Answers with whether anything is to be sent. */
function collect(branch: Branch, turn: TurnFrames, owners: Owners | null): boolean {
  const { directory, dirty } = branch
  const { no, events } = turn
  let at = 0
  const add = (group: Group): void => {
    const last = group.parts.at(-1)
    if (last?.no === no) last.text += turn.text(at)
    else group.parts.push({ no, text: turn.text(at) })
    dirty.add(group)
  }
  for (const event of events) {
    directory.visit(event, owners?.of(event), add)
    at += 1
  }
  branch.collected = Math.max(branch.collected, no)
  if (dirty.size > 0) return true
  branch.sent = branch.collected
  return false
}

function flushBranch(branch: Branch, mostWaiting: number): void {
  branch.sent = branch.collected
  for (const group of branch.dirty) flushGroup(group, mostWaiting)
  branch.dirty.clear()
}

function flushGroup(group: Group, mostWaiting: number): void {
  const { parts } = group
  group.parts = []
  const first = parts[0]?.no ?? 0
  const textOf = (some: Group['parts']): Buffer => Buffer.from(some.map(({ text }) => text).join(''))
  const all = textOf(parts)
  for (const client of [...group.clients]) {
    const { no } = client.position
    // Somebody who has just caught up may already have had the beginning of it.
    const own = no < first ? all : textOf(parts.filter((part) => part.no > no))
    if (own.length > 0) send(client, own, mostWaiting)
  }
}
