/** What is kept sealed. A sealed text is bound to its kind: as another it cannot be opened. */
export const SEALED_KINDS = ['secret', 'signing_secret', 'target.url', 'channel.credentials'] as const
export type SealedKind = (typeof SEALED_KINDS)[number]
