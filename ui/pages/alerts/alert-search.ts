/** Which alerts are shown; the open ones unless said. */
export interface AlertSearch {
  readonly show?: 'cleared' | 'all'
}

/** Reads the address; what makes no sense is left out. */
export function readAlertSearch({ show }: Readonly<Record<string, unknown>>): AlertSearch {
  return show === 'cleared' || show === 'all' ? { show } : {}
}
