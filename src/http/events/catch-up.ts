import type { ResetView } from '../../contract/event.ts'
import type { OrgId } from '../../domain/ids.ts'
import type { ToldTurn } from '../../service/events.ts'
import type { RunOwners } from '../../service/live-port.ts'
import { advance, drained, send, type Client } from './client.ts'
import { asksForOwners, isWanted } from '../../server/events/filter.ts'
import { framesOf, resetFrame } from './frames.ts'
import type { Owners } from './owners.ts'
import type { Position } from './position.ts'

/** What catching up needs. */
export interface CatchUpContext {
  readonly orgId: OrgId
  readonly read: (after: number, limit: number) => Promise<readonly ToldTurn[]>
  readonly version: () => Promise<number>
  readonly owners: Owners
  readonly askOwners: (ids: readonly string[]) => Promise<ReadonlyMap<string, RunOwners>>
  /** The last turn that those who are live have been told, or are about to be. */
  readonly heard: () => number | null
  readonly mostWaiting: number
}

/** Turns per page: a turn may have hundreds of events, and a page of each who catches up is in memory. */
const PAGE = 50

/**
 * Tells somebody from history everything after their position, until they are as far as those who are live: then nothing
 * is between what they were told and what comes next. A turn is on record before it is heard of, so whatever is not
 * found here will be heard. Answers with false when they have gone away meanwhile.
 */
export async function catchUp(ctx: CatchUpContext, client: Client): Promise<boolean> {
  while (!client.closed) {
    const { no, index } = client.position
    const after = index === Infinity ? no : no - 1
    const turns = await ctx.read(after, PAGE)
    const first = turns[0]
    const lost =
      first === undefined ? await whyNothing(ctx, client.position) : first.no === after + 1 ? null : 'too_old'
    if (lost !== null) {
      await reset(ctx, client, lost)
      continue
    }
    await tell(ctx, client, turns)
    await drained(client)
    if (turns.length < PAGE && (ctx.heard() ?? 0) <= client.position.no && client.position.index === Infinity)
      return !client.closed
  }
  return false
}

/** Nothing comes after the newest turn, nor after one that was never taken, nor where history has been removed. */
async function whyNothing(ctx: CatchUpContext, { no, index }: Position): Promise<ResetView['reason'] | null> {
  const version = await ctx.version()
  if (version < no) return 'unknown'
  const after = index === Infinity ? no : no - 1
  // What was written since the look is on record now, unless it is gone.
  return version === after || (await ctx.read(after, 1)).length > 0 ? null : 'too_old'
}

async function reset(ctx: CatchUpContext, client: Client, reason: ResetView['reason']): Promise<void> {
  const { no, index } = client.position
  const asked = index === Infinity ? String(no) : `${no}-${index}`
  const version = await ctx.version()
  client.position = { no: version, index: Infinity }
  send(client, resetFrame({ reason, asked, id: String(version) }), ctx.mostWaiting)
}

async function tell(ctx: CatchUpContext, client: Client, turns: readonly ToldTurn[]): Promise<void> {
  const { wanted } = client
  const told = turns.map((turn) => framesOf(ctx.orgId, turn))
  const all = turns.flatMap(({ events }) => events)
  if (asksForOwners(wanted)) {
    const ids = ctx.owners.unknown(all)
    if (ids.length > 0) ctx.owners.learn(ids, await ctx.askOwners(ids))
  }
  let text = ''
  for (const turn of told) {
    const { position } = client
    const skipped = turn.no === position.no ? position.index : -1
    for (const [index, event] of turn.events.entries())
      if (index > skipped && isWanted(wanted, event, ctx.owners.of(event))) text += turn.text(index)
    advance(client, turn.no)
  }
  ctx.owners.told(all)
  // A page is not what somebody has failed to take: it is waited for.
  if (text !== '') send(client, text, Infinity)
}
