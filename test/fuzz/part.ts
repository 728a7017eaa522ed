/** What somebody may find by trying. */
export type FindingKind = 'crash' | 'hang' | '5xx' | 'wrong'

/** Something that must not be, and the input that showed it. */
export interface Finding {
  readonly part: string
  readonly kind: FindingKind
  /** The parser or the operation that was tried. */
  readonly where: string
  readonly message: string
  /** JSON from which a part can try the same again. */
  readonly input: unknown
}

/** What a part is given to work with. */
export interface PartRun {
  readonly seconds: number
  readonly seed: number
  /** A line for people. */
  readonly say: (line: string) => void
  /** Inputs that were worth keeping, to begin with and to change. */
  readonly corpus: readonly unknown[]
  /** Told before something is tried: whoever hangs or crashes on it is then known by its input. */
  readonly note: (where: string, input: unknown) => void
}

/** How a part has ended. */
export interface PartEnd {
  readonly tried: number
  readonly findings: readonly Finding[]
  readonly facts: Readonly<Record<string, number | string>>
  /** Inputs of kinds that the corpus has not had. */
  readonly fresh?: readonly KeptInput[]
}

/** An input that is kept, as it stands in a file of the corpus. */
export interface KeptInput {
  /** What is particular about it. */
  readonly why: string
  readonly input: unknown
}

/** One of the things that are tried: a family of inputs and what must hold of them. */
export interface Part {
  readonly name: string
  readonly title: string
  readonly run: (run: PartRun) => Promise<PartEnd>
  /** Tries inputs that were kept; answers with what is still wrong. */
  readonly replay: (inputs: readonly unknown[]) => Promise<readonly Finding[]>
}
