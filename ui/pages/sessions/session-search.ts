/** What the address says beside the conversation: whether a new one is being begun. */
export interface ChatSearch {
  readonly begin?: true
}

/** Reads the address; what makes no sense is left out. */
export const readChatSearch = ({ begin }: Readonly<Record<string, unknown>>): ChatSearch =>
  begin === true ? { begin } : {}
