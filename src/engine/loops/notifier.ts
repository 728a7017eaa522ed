import type { OrgId } from '../../domain/ids.ts'

/** Tells other nodes which orgs have changed. A word that is lost costs a poll and nothing else. */
export interface Notifier {
  /** `plan`: a person has changed a schedule, too. */
  readonly changed: (turn: { readonly orgId: OrgId; readonly no: number; readonly plan: boolean }) => void
}

export interface NotifierContext {
  readonly nodeId: () => string
  readonly channels: { readonly turn: string; readonly plan: string }
  readonly send: (channel: string, payloads: readonly string[]) => Promise<void>
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  readonly stopping: AbortSignal
  readonly failed: (error: unknown) => void
}

/** The first word goes out at once; what comes within this time goes out together. */
const GAP_MS = 8

/** PostgreSQL carries less than 8,000 bytes in one notification. */
const MAX_PAYLOAD_BYTES = 7_500

/**
 * Speaks after the commit and outside of any transaction: a notification inside one would make the commits of the whole
 * cluster wait for each other.
 */
export function createNotifier(ctx: NotifierContext): Notifier {
  let changed = new Map<OrgId, number>()
  let plans = false
  let isBusy = false
  const flush = async (): Promise<void> => {
    while (changed.size > 0) {
      const payloads = writeChanges(ctx.nodeId(), changed)
      const withPlans = plans
      changed = new Map()
      plans = false
      try {
        await ctx.send(ctx.channels.turn, payloads)
        if (withPlans) await ctx.send(ctx.channels.plan, [''])
      } catch (error) {
        ctx.failed(error)
      }
      await ctx.sleep(GAP_MS, ctx.stopping)
    }
    isBusy = false
  }
  return {
    changed: ({ orgId, no, plan }) => {
      changed.set(orgId, no)
      plans ||= plan
      if (isBusy || ctx.stopping.aborted) return
      isBusy = true
      void flush()
    },
  }
}

/** The node that speaks, then org and version of each org that has changed, in as many pieces as are needed. */
export function writeChanges(nodeId: string, changed: ReadonlyMap<OrgId, number>): readonly string[] {
  const payloads: string[] = []
  let payload = nodeId
  for (const [orgId, no] of changed) {
    const word = ` ${orgId}=${no}`
    if (payload.length > nodeId.length && Buffer.byteLength(payload + word) > MAX_PAYLOAD_BYTES) {
      payloads.push(payload)
      payload = nodeId
    }
    payload += word
  }
  payloads.push(payload)
  return payloads
}

/** What a node has said. Null: it did not say which orgs, as nodes of version 0.1.0 do. */
export function readChanges(
  payload: string,
): { readonly nodeId: string; readonly changed: ReadonlyMap<OrgId, number> } | null {
  const [nodeId, ...words] = payload.split(' ')
  if (nodeId === undefined || nodeId === '' || words.length === 0) return null
  const changed = new Map<OrgId, number>()
  for (const word of words) {
    const at = word.lastIndexOf('=')
    const no = Number(word.slice(at + 1))
    if (at < 1 || !Number.isSafeInteger(no)) return null
    changed.set(word.slice(0, at) as OrgId, no)
  }
  return { nodeId, changed }
}
