import type { FaultRecord } from '../faults.ts'
import type { Records } from '../records.ts'
import type { Finding } from './findings.ts'
import type { Evidence } from './spans.ts'

/** A server that stood still is no reason to take nodes for lost: they were alive, and could not renew their leases. */
export function findWronglyLost({ records }: Evidence): readonly Finding[] {
  const { runs, handled, faults, leaseMs } = records
  const processes = new Map(handled.map(({ node, process }) => [node, process]))
  const stalls = faults.filter(({ kind }) => kind === 'stall')
  return runs.flatMap((run) =>
    run.attempts.flatMap((attempt): readonly Finding[] => {
      const { node, finishedAt, errorCode } = attempt
      if (errorCode !== 'node_lost' || finishedAt === null) return []
      const stall = stalls.find(({ from, until }) => from <= finishedAt && finishedAt <= until + leaseMs)
      const process = node === null ? undefined : processes.get(node)
      if (stall === undefined || process === undefined || !wasWell(records, process, stall)) return []
      return [
        { wrong: 'wrongly lost', what: `${process} was alive while the server stood still`, rows: [run, attempt] },
      ]
    }),
  )
}

/** Nothing else was done to it that ends leases, or takes work from nodes, so shortly before that it could still matter. */
function wasWell({ processes, faults, leaseMs }: Records, name: string, stall: FaultRecord): boolean {
  const end = stall.until + leaseMs
  const diedAt = processes.find((process) => process.name === name)?.diedAt ?? null
  if (diedAt !== null && diedAt <= end) return false
  const since = stall.from - 3 * leaseMs
  return !faults.some(
    ({ kind, process, from, until }) => (process === name || kind === 'failover') && until > since && from < end,
  )
}
