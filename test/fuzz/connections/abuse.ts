import type { Random } from '../../simulation/random.ts'
import type { FindingKind } from '../part.ts'
import type { Guests } from './guests.ts'
import type { Target } from './target.ts'

/** What every way of abusing a server works with. */
export interface Abuse {
  readonly target: Target
  readonly guests: Guests
  readonly random: Random
  /** Told before something is tried. */
  readonly note: (where: string, input: unknown) => void
  /** Something must not be. */
  readonly find: (found: Found) => void
  readonly say: (line: string) => void
}

export interface Found {
  readonly where: string
  readonly message: string
  readonly kind?: FindingKind
  readonly input?: unknown
}

/** A way of abusing a server, as long as it is let; answers with how many things were tried. */
export type Scenario = (abuse: Abuse, seconds: number) => Promise<number>
