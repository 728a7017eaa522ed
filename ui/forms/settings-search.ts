/** What the address of a section says: which of its things is being edited. */
export interface SettingsSearch {
  /** `new`, or an id. */
  readonly open?: string
  /** What is looked for. */
  readonly q?: string
}

/** Reads the address; what makes no sense is left out. */
export function readSettingsSearch({ open, q }: Readonly<Record<string, unknown>>): SettingsSearch {
  const [thing, text] = [open, q].map((one) => (typeof one === 'string' || typeof one === 'number' ? String(one) : ''))
  return {
    ...(thing === undefined || thing === '' ? {} : { open: thing }),
    ...(text === undefined || text === '' ? {} : { q: text }),
  }
}
