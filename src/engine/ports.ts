import type { ChannelsPort } from '../domain/channel/services.ts'
import type { SendOnce } from '../domain/delivery/message.ts'
import type { CommandRules } from '../executors/command/options.ts'
import type { Instant } from '../domain/instant.ts'
import type { Purpose } from '../domain/outbound/ssrf-guard.ts'
import type { ProbeRunner } from '../domain/probe/verdict.ts'
import type { Connection } from '../platform/db/database.ts'
import type { ChecklistFiles } from '../features/heartbeats/checklist-files.ts'
import type { Clock } from './clock.ts'
import type { ComputePort } from './compute.ts'
import type { IdKind } from './ids.ts'
import type { Vault } from '../features/secrets/vault-port.ts'
import type { EngineSettings } from '../features/config/settings.ts'
import type { SimulationPort } from '../features/simulation/port.ts'
import type { Commands } from './commands-port.ts'

/** The dependencies of services. */
export interface Ports {
  /** For reading. Changes are commands. */
  readonly database: Connection
  readonly commands: Commands
  readonly clock: Clock
  readonly newId: (kind: IdKind, now: Instant) => string
  /** The current settings; they may change while the program runs. */
  readonly settings: () => EngineSettings
  readonly outbound: OutboundPort
  readonly vault: Vault
  /** The commands that the operator allows agents to start; left out: none. */
  readonly commandRules?: (() => CommandRules) | undefined
  /** Runs probes. Left out: probes cannot run here. */
  readonly runProbe?: ProbeRunner | undefined
  /** Left out: checklists of heartbeats are texts, never files. */
  readonly checklists?: ChecklistFiles | undefined
  /** The pool that computes simulations. Left out: the calling thread. */
  readonly simulations?: SimulationPort | undefined
  /** The pool that computes previews and forecasts of recurrence rules. Left out: the calling thread. */
  readonly computations?: ComputePort | undefined
  /** The services behind channels. */
  readonly channels: ChannelsPort
}

/** Outbound requests. */
interface OutboundPort {
  /** Why an address must not be called, or null. */
  readonly check: (url: string, purpose: Purpose) => Promise<string | null>
  readonly post: SendOnce
  /** Why no mail can be sent, or null. Left out: mail can be sent. */
  readonly mailFlaw?: () => string | null
}
