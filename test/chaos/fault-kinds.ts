import type { Random } from '../simulation/random.ts'

/** What is done to the nodes, to the network between them and the server, and to the server. */
export const FAULT_KINDS = [
  'kill',
  'stop_short',
  'stop_long',
  'cut',
  'restart',
  'net_reset',
  'net_silent_short',
  'net_silent_long',
  'net_forgotten',
  'net_slow',
  'net_half',
  'net_amid',
  'net_commit',
  'db_locked',
  'db_busy',
  'disk_slow',
  'full_server',
  'full_pool',
  'clock_step',
  'stall',
  'failover',
] as const
export type FaultKind = (typeof FAULT_KINDS)[number]

export const FAULT_NAMES: Record<FaultKind, string> = {
  kill: 'kill -9',
  stop_short: 'SIGSTOP shorter than the lease',
  stop_long: 'SIGSTOP longer than the lease',
  cut: 'pg_terminate_backend',
  restart: 'server restart',
  net_reset: 'network reset',
  net_silent_short: 'silent network shorter than the lease',
  net_silent_long: 'silent network longer than the lease',
  net_forgotten: 'connections forgotten by the network',
  net_slow: 'slow network',
  net_half: 'half-closed connections',
  net_amid: 'cut inside a message',
  net_commit: 'answer to COMMIT lost',
  db_locked: 'locked table',
  db_busy: 'busy server',
  disk_slow: 'slow disk',
  full_server: 'no connection left at the server',
  full_pool: 'no connection left in the pool',
  clock_step: 'clock step',
  stall: 'server that stands still',
  failover: 'failover to a copy without the last transactions',
}

/** Kinds that hit the server, and so every node. */
const EVERYBODY: ReadonlySet<FaultKind> = new Set([
  'restart',
  'db_locked',
  'db_busy',
  'disk_slow',
  'full_server',
  'full_pool',
  'stall',
  'failover',
])

/** Whether a fault of the kind hits every node. */
export const hitsEverybody = (kind: FaultKind): boolean => EVERYBODY.has(kind)

/** Kinds during which one node is away for so long that something else may happen to a second one meanwhile. */
export const LONG_KINDS: ReadonlySet<FaultKind> = new Set(['stop_long', 'net_silent_long', 'net_forgotten'])

/** Kinds that may happen to a second node meanwhile. */
export const BRIEF_KINDS: ReadonlySet<FaultKind> = new Set([
  'kill',
  'cut',
  'net_reset',
  'net_half',
  'net_amid',
  'net_commit',
  'clock_step',
])

/** How long a node or the server is away, or how long a trap may wait for what it is set for. */
export function durationOf(random: Random, kind: FaultKind, leaseMs: number): number {
  switch (kind) {
    case 'cut':
    case 'net_half':
      return 0
    case 'net_forgotten':
      // As long as it takes until somebody notices.
      return leaseMs
    case 'kill':
    case 'net_reset':
      return random.int(0, 1_500)
    case 'stop_short':
    case 'net_silent_short':
      return random.int(300, Math.max(300, leaseMs - 1_500))
    case 'stop_long':
    case 'net_silent_long':
      return leaseMs + random.int(800, 2_500)
    case 'restart':
      // Often longer than a second, so that occurrences are missed.
      return random.int(0, 2_200)
    case 'net_amid':
    case 'net_commit':
      return 1_500
    case 'stall':
      // Longer than the lease, and shorter than the longest time a statement may take.
      return random.int(8_000, 18_000)
    case 'failover':
      // How long the server goes on after the copy was made: all of it is lost.
      return random.int(400, 2_500)
    case 'db_locked':
    case 'db_busy':
    case 'disk_slow':
    case 'net_slow':
    case 'full_server':
    case 'full_pool':
    case 'clock_step':
      return random.int(800, 2_400)
  }
}

/** The kinds that words name: each is a kind, or what several begin with. Null: a word names none. */
export function kindsNamed(words: readonly string[]): readonly FaultKind[] | null {
  const named = words.map((word) => FAULT_KINDS.filter((kind) => kind === word || kind.startsWith(`${word}_`)))
  if (named.some((kinds) => kinds.length === 0)) return null
  return FAULT_KINDS.filter((kind) => named.some((kinds) => kinds.includes(kind)))
}
