const SEGMENTER = new Intl.Segmenter('en', { granularity: 'grapheme' })
const WIDE =
  /^[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|^\p{Emoji_Presentation}/u
const ASCII = /^[\x20-\x7e]*$/

/** An untrusted text on one line, without control characters. */
export const oneLine = (text: string): string =>
  text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+|[\u202a-\u202e\u2066-\u2069]/gu, ' ')

/** An untrusted text without control characters other than line breaks. */
export const manyLines = (text: string): string =>
  text
    .split(/\r\n|\n/)
    .map(oneLine)
    .join('\n')

const columnsOf = (grapheme: string): number => (WIDE.test(grapheme) ? 2 : 1)

/** The width of a text in terminal columns. */
export function widthOfText(text: string): number {
  if (ASCII.test(text)) return text.length
  let width = 0
  for (const { segment } of SEGMENTER.segment(text)) width += columnsOf(segment)
  return width
}

/** Cuts a text to a width and marks the cut with `…`. */
export function truncateText(text: string, width: number): string {
  if (widthOfText(text) <= width) return text
  let cut = ''
  let used = 1
  for (const { segment } of SEGMENTER.segment(text)) {
    used += columnsOf(segment)
    if (used > width) break
    cut += segment
  }
  return `${cut.trimEnd()}…`
}

/** A value for people: strings unchanged, null and empty as `-`, everything else as JSON. */
export function valueText(value: unknown): string {
  if (value === null || value === undefined || value === '') return '-'
  if (typeof value === 'string') return value
  return JSON.stringify(value)
}
