/** What tokenizers make of most texts, and what every message costs beside its words. */
const BYTES_PER_TOKEN = 4
const TOKENS_PER_MESSAGE = 4

/** How many tokens a message is, roughly, where nobody has counted them. */
export const estimateTokens = (text: string): number =>
  Math.ceil(utf8Length(text) / BYTES_PER_TOKEN) + TOKENS_PER_MESSAGE

export function utf8Length(text: string): number {
  let bytes = 0
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index)
    // Each half of a pair counts for two: together they are four bytes.
    bytes += unit < 0x80 ? 1 : unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 2 : 3
  }
  return bytes
}

/** What is assumed of a model when its agent does not say; only for how much of a conversation is sent. */
const USUAL_WINDOW = 16_384
/** An answer is left this share of the window when nobody has said how long it may be. */
const ANSWER_SHARE = 4

/** How many tokens a conversation may have so that its answer fits behind it. */
export function roomFor(window: number | null, maxTokens: number | null): number {
  const whole = window ?? USUAL_WINDOW
  const answer = maxTokens ?? Math.floor(whole / ANSWER_SHARE)
  return Math.max(0, whole - answer)
}
