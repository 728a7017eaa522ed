import type { Escapement, EscapementOptions } from '../../../src/library/escapement.ts'
import type { TestDatabase } from '../../support/database.ts'

/** What the library and a server spoken to over HTTP have in common. */
export type Surface = Pick<Escapement, 'schedules' | 'sessions' | 'runs' | 'agents' | 'callbacks'> & {
  readonly lanes: Pick<Escapement['lanes'], 'list'>
}

/** Where a scenario starts nodes, whichever way it speaks to them. */
export interface World {
  readonly database: Pick<TestDatabase, 'outside'>
  readonly start: (
    options: Pick<EscapementOptions, 'agents' | 'lanes' | 'sessions' | 'schedules'>,
  ) => Promise<Surface & { readonly stop: () => Promise<void> }>
}

/** Declares a test on a world of its own, through the library or over HTTP. */
export type Declare = (name: string, play: (world: World) => Promise<void>, timeoutMs?: number) => void
