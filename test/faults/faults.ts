/** What can go wrong between a node and the database in the next transaction that this can happen to. */
export const STORE_FAULTS = [
  /** COMMIT was sent and kept, but the answer never came. */
  'commit_kept',
  /** COMMIT was sent, the answer never came, and nothing was kept. */
  'commit_lost',
  /** The connection ended in the middle of the transaction. */
  'connection_cut',
  'conflict',
  'timed_out',
  /** No connection could be had. */
  'unreachable',
  /** A single statement was carried out, but its answer never came. */
  'answer_lost',
  /** The answer to COMMIT came so late that others had taken turns in between. */
  'answer_late',
  /** The transaction began so late that others had taken turns since the node looked. */
  'begun_late',
  /** COMMIT was kept and answered after longer than a lease, or not at all. */
  'commit_late',
  /** A turn is missing in the history that a node catches up with, as if it had been removed too soon. */
  'history_hole',
  /** A look at the nodes was answered after longer than a lease. */
  'look_late',
] as const
export type StoreFault = (typeof STORE_FAULTS)[number]

/** What can go wrong with a whole node, or on the way between nodes. */
export const NODE_FAULTS = [
  /** The process is gone, at once and for ever. */
  'node_gone',
  /** The process is gone in the middle of a transaction. */
  'node_gone_inside',
  /** The process stands still for longer than its lease, and then goes on as if nothing had been. */
  'node_frozen',
  /** The process works on, but the database is out of its reach for longer than its lease; what it did is told late. */
  'node_cut_off',
  /** The process forgets to renew its lease once or twice, and comes just in time or just too late. */
  'renewal_missed',
  /** A node joins and claims while the answer to another's look at the nodes is under way. */
  'joined_between',
] as const
export type NodeFault = (typeof NODE_FAULTS)[number]

/** What can happen to the server, or to everything at once. A world has one of them, or none. */
export const SERVER_FAULTS = [
  /** A failover to a copy without the last transactions. */
  'tail_lost',
  /** Another client holds the lock of one org. */
  'lock_held',
  /** The clock of the server is set, and later set right. */
  'clock_step',
  /** Hundreds of timers of one org are due at once. */
  'many_due',
] as const
export type ServerFault = (typeof SERVER_FAULTS)[number]

/** Which of them a world has; half of the worlds have none. Neighbouring seeds share one, so that both suites have all. */
export const serverFaultOf = (seed: number): ServerFault | null =>
  ([null, 'tail_lost', null, 'lock_held', null, 'clock_step', null, 'many_due'] as const)[Math.floor(seed / 2) % 8] ??
  null

const NOTICE_FAULTS = ['notice_lost', 'notice_doubled'] as const

export const FAULT_KINDS = [...STORE_FAULTS, ...NODE_FAULTS, ...SERVER_FAULTS, ...NOTICE_FAULTS] as const
export type FaultKind = (typeof FAULT_KINDS)[number]

export type FaultCounts = Record<FaultKind, number>

export const noFaults = (): FaultCounts =>
  Object.fromEntries(FAULT_KINDS.map((kind) => [kind, 0])) as Record<FaultKind, number>
