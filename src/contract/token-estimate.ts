/**
 * Tokens of a conversation and the size of its context; null: that cannot be told. Asked before each further start, also of
 * sessions at work.
 */
export type TokenEstimateFunc = (session: string) => { readonly tokens: number; readonly contextWindow: number } | null
