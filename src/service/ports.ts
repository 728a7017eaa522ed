import type { ChannelsPort } from '../domain/channel/services.ts'
import type { Post } from '../domain/delivery/message.ts'
import type { CommandRules } from '../executors/command/options.ts'
import type { Instant } from '../domain/instant.ts'
import type { Purpose } from '../domain/outbound/ssrf-guard.ts'
import type { Look } from '../core/probe/asked.ts'
import type { Connection } from '../store/database.ts'
import type { ChecklistFiles } from './checklist-files.ts'
import type { Clock } from './clock.ts'
import type { ComputePort } from '../engine/compute.ts'
import type { IdKind } from '../engine/ids.ts'
import type { Vault } from './secret/vault-port.ts'
import type { EngineSettings } from '../features/config/settings.ts'
import type { SimulationPort } from './simulate/port.ts'
import type { Turns } from './turn-port.ts'

/** What services have instead of globals. */
export interface Ports {
  /** For reading. What changes goes through a turn. */
  readonly database: Connection
  readonly turns: Turns
  readonly clock: Clock
  readonly newId: (kind: IdKind, now: Instant) => string
  /** The settings of this moment; they may change while the program runs. */
  readonly settings: () => EngineSettings
  readonly outbound: OutboundPort
  readonly vault: Vault
  /** What the operator lets agents start; left out: nothing. */
  readonly commands?: (() => CommandRules) | undefined
  /** Looks outside for probes. Left out: nobody can. */
  readonly look?: Look | undefined
  /** Left out: checklists of heartbeats are words, never files. */
  readonly checklists?: ChecklistFiles | undefined
  /** Where simulations are computed. Left out: where they are asked for. */
  readonly simulations?: SimulationPort | undefined
  /** Where previews and forecasts of recurrence rules are worked out. Left out: where they are asked for. */
  readonly computations?: ComputePort | undefined
  /** The services behind channels. */
  readonly channels: ChannelsPort
}

/** The way to the outside. */
interface OutboundPort {
  /** What is wrong with an address that somebody wants called, or null. */
  readonly check: (url: string, purpose: Purpose) => Promise<string | null>
  readonly post: Post
  /** Why no mail can be sent from here, or null. Left out: it can. */
  readonly mailFlaw?: () => string | null
}
