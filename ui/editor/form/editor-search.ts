/** What the address says about the editor, on every page: which schedule is edited, and what a new one begins with. */
export interface EditorSearch {
  /** `new`, or the id of the schedule that is changed. */
  readonly edit?: string | undefined
  /** The run that a new schedule does again. */
  readonly draft?: string | undefined
  /** The schedule that a new one is a copy of. */
  readonly copy?: string | undefined
}

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

/** Reads the address; what makes no sense is left out. */
export function readEditorSearch(given: Readonly<Record<string, unknown>>): EditorSearch {
  const [edit, draft, copy] = [text(given['edit']), text(given['draft']), text(given['copy'])]
  return {
    ...(edit === undefined ? {} : { edit }),
    ...(draft === undefined ? {} : { draft }),
    ...(copy === undefined ? {} : { copy }),
  }
}
