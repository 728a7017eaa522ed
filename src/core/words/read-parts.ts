import { addAll } from '../long-lists.ts'
import type { Clause, Complaint, Language, Part } from './parts.ts'
import { CHINESE } from './chinese.ts'
import { ENGLISH } from './english.ts'

const GRAMMARS: Readonly<Record<Language, readonly Clause[]>> = { en: ENGLISH, zh: CHINESE }

/** What may stand between two things that are said. */
const BETWEEN = /[\s,;()，。；]+|and(?![\p{L}\p{N}])|[.!]+$|(?:并且|而且|以及|和|、)/iuy

/** Chinese as soon as there is one character of it. */
export const languageOf = (text: string): Language => (/\p{Script=Han}/u.test(text) ? 'zh' : 'en')

/** What a sentence says, piece by piece; the longest way of reading each piece counts. A complaint names the first word nobody knows. */
export function readParts(text: string): { readonly parts: readonly Part[]; readonly complaint: Complaint | null } {
  const grammar = GRAMMARS[languageOf(text)]
  const parts: Part[] = []
  let at = skip(text, 0)
  while (at < text.length) {
    const found = longest(grammar, text, at)
    if (found === null) return { parts, complaint: unknownWord(text, at) }
    if (!Array.isArray(found.says)) return { parts, complaint: { at, note: found.says as Complaint['note'] } }
    const said = text.slice(at, at + found.length)
    addAll(
      parts,
      (found.says as readonly Part[]).map((saying) => ({ ...saying, at, text: said })),
    )
    at = skip(text, at + found.length)
  }
  return { parts, complaint: null }
}

function skip(text: string, from: number): number {
  let at = from
  for (;;) {
    BETWEEN.lastIndex = at
    const found = BETWEEN.exec(text)?.[0].length ?? 0
    if (found === 0) return at
    at += found
  }
}

function longest(grammar: readonly Clause[], text: string, at: number): ReturnType<Clause['match']> {
  let best: ReturnType<Clause['match']> = null
  for (const { match } of grammar) {
    const found = match(text, at)
    if (found !== null && (best === null || found.length > best.length)) best = found
  }
  return best
}

/** Words behind which something is expected: what follows them is what nobody knows. */
const LEADS =
  /(?:every|each|at|in|on|the|from|until|starting|between|except|for|next|only|not)\s+(?=\S)|(?:每个?|除了?|从|到)(?=.)/iuy

function unknownWord(text: string, from: number): Complaint {
  let at = from
  for (;;) {
    LEADS.lastIndex = at
    const lead = LEADS.exec(text)?.[0].length ?? 0
    if (lead === 0) break
    at += lead
  }
  const word = /[\p{Script=Han}]{1,6}|[^\s\p{Script=Han},;()，；]+|./u.exec(text.slice(at))?.[0] ?? ''
  const lead = text.slice(from, at).trim()
  const behind = lead === '' ? '' : ` after "${lead}"`
  return { at, note: { en: `"${word}" is not understood${behind}`, zh: `看不懂“${word}”` } }
}
