/** A heartbeat as /rpc shows it. */
export interface RpcHeartbeat {
  readonly agentId: string
  readonly enabled: boolean
  readonly intervalSec: number
  readonly prompt: string
  readonly checklist?: string
  readonly checklistFile?: string
  readonly target: string
  /** Where news would go at present; left out: nowhere, and `noRoute` says why. */
  readonly route?: string
  readonly noRoute?: string
  readonly ackMaxChars: number
  readonly session: string
  readonly activeHoursStart?: string
  readonly activeHoursEnd?: string
  readonly timezone?: string
  readonly adaptive: boolean
  readonly okStreak: number
  readonly nextRunAtMs?: number
}

/** What became of one heartbeat. */
export interface RpcHeartbeatEntry {
  readonly id: string
  readonly ts: number
  readonly status: string
  readonly reason: string
  readonly message: string
  readonly content?: string
  readonly runId?: string
  readonly deliveryStatus?: string
}
