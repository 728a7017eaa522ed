/**
 * Cuts a text into pieces of at most `most` UTF-16 units, which is what messengers count. It cuts at the end of a
 * paragraph, else of a line, else of a word, if that leaves a piece at least half full, and never inside a character.
 * Nothing is lost but the blank space at a cut.
 */
export function splitText(text: string, most: number): readonly string[] {
  const pieces: string[] = []
  let rest = text.trimEnd()
  while (rest.length > most) {
    const at = cutOf(rest, most)
    pieces.push(rest.slice(0, at).trimEnd())
    rest = rest.slice(at).replace(/^[^\S\n]*\n+|^[^\S\n]+/, '')
  }
  if (rest !== '' || pieces.length === 0) pieces.push(rest)
  return pieces.filter((piece, index) => piece !== '' || (index === 0 && pieces.length === 1))
}

function cutOf(text: string, most: number): number {
  const head = text.slice(0, most)
  for (const end of ['\n\n', '\n', ' ']) {
    const at = head.lastIndexOf(end)
    if (at >= most / 2) return at
  }
  // Half a pair at the end belongs to the next piece.
  const last = head.charCodeAt(most - 1)
  return last >= 0xd800 && last <= 0xdbff && most > 1 ? most - 1 : most
}
