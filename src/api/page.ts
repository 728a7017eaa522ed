/** A page of a list. */
export interface Page<Item> {
  readonly items: readonly Item[]
  readonly next_cursor: string | null
}
