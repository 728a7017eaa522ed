/**
 * Where somebody stands in the history of an org. An event has the id `<turn>-<index>`; a turn by itself means all of
 * it, which is how far somebody has come to whom nothing of it was of interest.
 */
export interface Position {
  readonly no: number
  /** The last event of the turn that was told; infinite for all of them. */
  readonly index: number
}

const ID = /^(\d{1,15})(?:-(\d{1,9}))?$/

/** Everything up to the end of a turn. */
export const wholeTurn = (no: number): Position => ({ no, index: Infinity })

/** Reads an id; null when it is none. */
export function readPosition(id: string): Position | null {
  const match = ID.exec(id)
  if (match === null) return null
  return { no: Number(match[1]), index: match[2] === undefined ? Infinity : Number(match[2]) }
}
