/** A page of a list. */
export interface Page<Item> {
  readonly items: readonly Item[]
  readonly next_cursor: string | null
}

/** How long a page is to be, and where it goes on. */
export interface PageFilter {
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}
