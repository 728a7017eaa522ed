import type { ReactNode } from 'react'

/** A text in which every place of another one is marked, whatever its case. */
export function Marked({ text, query }: { readonly text: string; readonly query: string }): ReactNode {
  if (query === '') return text
  const parts: ReactNode[] = []
  const [folded, wanted] = [text.toLowerCase(), query.toLowerCase()]
  // Folding may change the length of a few letters; then nothing is marked rather than the wrong place.
  if (folded.length !== text.length) return text
  let from = 0
  for (let at = folded.indexOf(wanted); at !== -1; at = folded.indexOf(wanted, from)) {
    parts.push(text.slice(from, at), <mark key={at}>{text.slice(at, at + query.length)}</mark>)
    from = at + query.length
  }
  return parts.length === 0 ? text : [...parts, text.slice(from)]
}
