/** A page of a list. */
export interface Page<Item> {
  readonly items: readonly Item[]
  readonly next_cursor: string | null
}

/** What stands beside the payload, null, of something whose payload is too large for a list. */
export interface OmittedPayload {
  readonly payload_omitted?: true | undefined
  /** How large it is. */
  readonly payload_bytes?: number | undefined
}

/** How long a page is to be, and where it goes on. */
export interface PageFilter {
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}
