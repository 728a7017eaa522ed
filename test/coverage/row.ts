import type { World } from './world.ts'

/** One statement of a source document, and what executes it. Exactly one of `check`, `shownBy` and `notExecutable`. */
export interface Row {
  /** The line or lines in the source document: '56', '28,56'. */
  readonly line: string
  /** The statement, as one plain sentence or phrase. */
  readonly says: string
  /** Present: Escapement differs on purpose, for this reason. */
  readonly differs?: string
  /** Executes the statement against a live server; throws when it does not hold. */
  readonly check?: (world: World) => Promise<void>
  /** A test elsewhere in `test/` that executes exactly this statement; its title as `describe › it`. */
  readonly shownBy?: readonly [file: string, title: string]
  /** Why no test can execute it. */
  readonly notExecutable?: string
}
