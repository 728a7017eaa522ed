/** A commit of the history, compared with the migrations there are now. */
export interface KnownCommit {
  readonly commit: string
  readonly subject: string
  /** How many migrations it has. */
  readonly migrations: number
  /** Whether these are the first of today's, byte for byte. */
  readonly isEarlier: boolean
}

/** An earlier build, ready to run. */
export interface OldBuild {
  /** The program of a node. */
  readonly entry: string
  /** The directory of its migrations. */
  readonly migrations: string
}

/** Whoever knows the history of the checkout and can build from it. */
export interface Workshop {
  readonly whyNoHistory: () => string | undefined
  /** How many migrations there are now. */
  readonly migrations: number
  readonly commitWith: (migrations: number) => string | undefined
  readonly describe: (name: string) => KnownCommit | undefined
  readonly build: (commit: string) => OldBuild
}

/** The migrations of the release before this one, with which the database may be shared during an upgrade. */
const RELEASE_BEFORE = 10

/** The commits to upgrade from, or why there are none. Unless one is named: the last before the newest migration, and the release before. */
export function chooseCommits(workshop: Workshop, from: string | null): readonly KnownCommit[] | string {
  const without = workshop.whyNoHistory()
  if (without !== undefined) return without
  const counts = [...new Set([workshop.migrations - 1, RELEASE_BEFORE])]
  const found: KnownCommit[] = []
  for (const wanted of from === null ? counts : [from]) {
    const name = typeof wanted === 'string' ? wanted : workshop.commitWith(wanted)
    const known = name === undefined ? undefined : workshop.describe(name)
    if (known === undefined)
      return typeof wanted === 'string'
        ? `there is no commit ${wanted}`
        : `no commit of the main line has exactly the first ${wanted} migrations`
    if (!known.isEarlier) return `the migrations of ${known.commit} are not the first of today's`
    found.push(known)
  }
  return found
}
