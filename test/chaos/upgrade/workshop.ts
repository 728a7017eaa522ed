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
  /** Why there is no such commit, and what to do about it. */
  readonly whyMissing: (name: string) => string
  /** How many migrations there are now. */
  readonly migrations: number
  readonly describe: (name: string) => KnownCommit | undefined
  readonly build: (commit: string) => OldBuild
}

/** The release before this one, with which the database may be shared during an upgrade: version 0.1.0. */
export const RELEASE_BEFORE = '96f1e4ab6642303e149d072d6906b75e02b8e06c'

/** The commit to upgrade from, that of the release before unless another is named, or why there is none. */
export function chooseCommit(workshop: Workshop, from: string | null): KnownCommit | string {
  const name = from ?? RELEASE_BEFORE
  const known = workshop.describe(name)
  if (known === undefined) return workshop.whyMissing(name)
  return known.isEarlier ? known : `the migrations of ${known.commit} are not the first of today's`
}
