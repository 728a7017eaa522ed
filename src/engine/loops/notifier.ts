import type { OrgId } from '../../domain/ids.ts'

/** Notifies other nodes of changed orgs. A lost notification only delays them until their next poll. */
export interface Notifier {
  /** `plan`: a user has changed a schedule, too. */
  readonly changed: (transaction: { readonly orgId: OrgId; readonly no: number; readonly plan: boolean }) => void
}

export interface NotifierContext {
  readonly nodeId: () => string
  readonly channels: { readonly turn: string; readonly plan: string }
  readonly send: (channel: string, payloads: readonly string[]) => Promise<void>
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  readonly stopping: AbortSignal
  readonly failed: (error: unknown) => void
}

/** The first change is sent at once; changes within this time after it are sent together. */
const GAP_MS = 8

/** PostgreSQL limits a notification to less than 8,000 bytes. */
const MAX_PAYLOAD_BYTES = 7_500

/**
 * Sends after the commit and outside of any transaction: a notification inside one would serialize the commits of the
 * whole cluster.
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

/** Payloads: the sending node, then org and version of each changed org, split to fit the size limit. */
export function writeChanges(nodeId: string, changed: ReadonlyMap<OrgId, number>): readonly string[] {
  const payloads: string[] = []
  let payload = nodeId
  for (const [orgId, no] of changed) {
    const entry = ` ${orgId}=${no}`
    if (payload.length > nodeId.length && Buffer.byteLength(payload + entry) > MAX_PAYLOAD_BYTES) {
      payloads.push(payload)
      payload = nodeId
    }
    payload += entry
  }
  payloads.push(payload)
  return payloads
}

/** Parses a payload. Null: it names no orgs, as those of nodes of version 0.1.0. */
export function readChanges(
  payload: string,
): { readonly nodeId: string; readonly changed: ReadonlyMap<OrgId, number> } | null {
  const [nodeId, ...entries] = payload.split(' ')
  if (nodeId === undefined || nodeId === '' || entries.length === 0) return null
  const changed = new Map<OrgId, number>()
  for (const entry of entries) {
    const at = entry.lastIndexOf('=')
    const no = Number(entry.slice(at + 1))
    if (at < 1 || !Number.isSafeInteger(no)) return null
    changed.set(entry.slice(0, at) as OrgId, no)
  }
  return { nodeId, changed }
}
