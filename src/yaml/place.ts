/** A text with the name under which people know it. */
export interface NamedText {
  readonly name: string
  readonly text: string
}

/** Where something stands; lines and columns are counted from 1. */
export interface Place {
  readonly file: string
  readonly line: number
  readonly column: number
}

/** Something that is wrong with a file, and where. */
export interface FileFlaw extends Place {
  readonly message: string
}

/** `deploy/nightly.yaml:12:5`, as editors and terminals know how to open it. */
export const placeText = ({ file, line, column }: Place): string => `${file}:${line}:${column}`
