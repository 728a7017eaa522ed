import { addAll } from '../long-lists.ts'
import { CHINESE } from './chinese.ts'
import { ENGLISH } from './english.ts'
import type {
  GrammarRule,
  ClockTime,
  SentenceError,
  DayPart,
  SentenceLanguage,
  BilingualNote,
  SentencePart,
  PartMeaning,
} from './parts.ts'

type PartOf<Kind extends PartMeaning['kind']> = Extract<SentencePart, { readonly kind: Kind }>

/** The parts of a sentence, grouped by kind. Empty or null if the sentence has no such part. */
export interface ParsedSentence {
  readonly parts: readonly SentencePart[]
  readonly step: PartOf<'step'> | null
  readonly weekdays: readonly number[]
  readonly nthWeekdays: readonly { readonly place: number; readonly day: number }[]
  readonly dates: readonly number[]
  readonly nearest: 'LW' | '1W' | null
  readonly months: readonly number[]
  readonly yeardays: readonly { readonly month: number; readonly day: number }[]
  readonly times: readonly ClockTime[]
  readonly minutes: readonly number[]
  readonly span: PartOf<'span'> | null
  readonly part: DayPart | null
  readonly zone: string | null
  readonly day: PartOf<'day'> | null
  readonly after: PartOf<'after'> | null
  readonly starts: PartOf<'starts'> | null
  readonly ends: PartOf<'ends'> | null
  readonly except: readonly PartOf<'except'>[]
  readonly fires: number | null
}

/** The kinds that a sentence can contain only once. */
const SINGLE_KINDS: readonly PartMeaning['kind'][] = [
  'step',
  'span',
  'zone',
  'day',
  'after',
  'starts',
  'ends',
  'nearest',
  'fires',
]
const DAY_KINDS: readonly PartMeaning['kind'][] = ['weekdays', 'places', 'dates', 'nearest', 'yearday', 'day']
const TIME_KINDS: readonly PartMeaning['kind'][] = ['times', 'minutes', 'span']

/** Creates a complaint at the position of a part. */
export const sentenceError = (part: { readonly at: number }, note: BilingualNote): SentenceError => ({
  at: part.at,
  note,
})

/** The first part of the given kinds. */
export const findPart = (
  sentence: Pick<ParsedSentence, 'parts'>,
  ...kinds: readonly PartMeaning['kind'][]
): SentencePart | null => sentence.parts.find(({ kind }) => kinds.includes(kind)) ?? null

/** Groups the parts by kind, or complains about a part that contradicts an earlier one. */
export function combineParts(parts: readonly SentencePart[]): ParsedSentence | SentenceError {
  const twice = parts.find(
    (part, index) =>
      SINGLE_KINDS.includes(part.kind) &&
      parts.slice(0, index).some((other) => other.kind === part.kind && !isSamePart(part, other)),
  )
  if (twice !== undefined)
    return sentenceError(twice, {
      en: `"${twice.text.trim()}" contradicts an earlier part of the sentence`,
      zh: `“${twice.text.trim()}”与前面的内容矛盾`,
    })
  const mixed = secondScheduleAt(parts)
  if (mixed !== null)
    return sentenceError(mixed, {
      en: 'the sentence describes two schedules; create one for each',
      zh: '一句话里有两个计划，请分成两个',
    })
  return groupParts(parts)
}

const isSamePart = (a: SentencePart, b: SentencePart): boolean =>
  JSON.stringify({ ...a, at: 0, text: '' }) === JSON.stringify({ ...b, at: 0, text: '' })

/** Finds two separate schedules: "Mondays at 9 and Tuesdays at 10" must not become both days at both times. */
function secondScheduleAt(parts: readonly SentencePart[]): SentencePart | null {
  const kinds = parts.map((part) =>
    DAY_KINDS.includes(part.kind) ? 'day' : TIME_KINDS.includes(part.kind) ? 'time' : null,
  )
  for (let index = 0; index < parts.length; index += 1) {
    const kind = kinds[index]
    if (kind === null || kind === undefined) continue
    const first = kinds.indexOf(kind)
    const between = kinds.slice(first, index).some((other) => other !== null && other !== kind)
    if (first < index && between) return parts[index] ?? null
  }
  return null
}

function groupParts(parts: readonly SentencePart[]): ParsedSentence {
  const all = <Kind extends PartMeaning['kind']>(kind: Kind): readonly PartOf<Kind>[] =>
    parts.filter((part): part is PartOf<Kind> => part.kind === kind)
  const first = <Kind extends PartMeaning['kind']>(kind: Kind): PartOf<Kind> | null => all(kind)[0] ?? null
  return {
    parts,
    step: first('step'),
    weekdays: sortedUnique(all('weekdays').flatMap(({ days }) => days)),
    nthWeekdays: all('places').flatMap(({ places, days }) =>
      places.flatMap((place) => days.map((day) => ({ place, day }))),
    ),
    dates: sortedUnique(all('dates').flatMap(({ dates }) => dates)),
    nearest: first('nearest')?.which ?? null,
    months: sortedUnique(all('months').flatMap(({ months }) => months)),
    yeardays: all('yearday').map(({ month, day }) => ({ month, day })),
    times: all('times').flatMap(({ times }) => times),
    minutes: sortedUnique(all('minutes').flatMap(({ minutes }) => minutes)),
    span: first('span'),
    part: first('part')?.part ?? null,
    zone: first('zone')?.zone ?? null,
    day: first('day'),
    after: first('after'),
    starts: first('starts'),
    ends: first('ends'),
    except: all('except'),
    fires: first('fires')?.count ?? null,
  }
}

const sortedUnique = (values: readonly number[]): readonly number[] => [...new Set(values)].sort((a, b) => a - b)

const GRAMMARS: Readonly<Record<SentenceLanguage, readonly GrammarRule[]>> = { en: ENGLISH, zh: CHINESE }

/** Separators between two parts. */
const SEPARATORS = /[\s,;()，。；]+|and(?![\p{L}\p{N}])|[.!]+$|(?:并且|而且|以及|和|、)/iuy

/** Chinese if the text has at least one Chinese character. */
export const languageOf = (text: string): SentenceLanguage => (/\p{Script=Han}/u.test(text) ? 'zh' : 'en')

/** Splits a sentence into parts, always taking the longest match. The complaint names the first unknown word. */
export function readParts(text: string): {
  readonly parts: readonly SentencePart[]
  readonly complaint: SentenceError | null
} {
  const grammar = GRAMMARS[languageOf(text)]
  const parts: SentencePart[] = []
  let at = skipSeparators(text, 0)
  while (at < text.length) {
    const found = longestMatch(grammar, text, at)
    if (found === null) return { parts, complaint: unknownWordError(text, at) }
    if (!Array.isArray(found.says)) return { parts, complaint: { at, note: found.says as SentenceError['note'] } }
    const sentence = text.slice(at, at + found.length)
    addAll(
      parts,
      (found.says as readonly SentencePart[]).map((saying) => ({ ...saying, at, text: sentence })),
    )
    at = skipSeparators(text, at + found.length)
  }
  return { parts, complaint: null }
}

function skipSeparators(text: string, from: number): number {
  let at = from
  for (;;) {
    SEPARATORS.lastIndex = at
    const found = SEPARATORS.exec(text)?.[0].length ?? 0
    if (found === 0) return at
    at += found
  }
}

function longestMatch(grammar: readonly GrammarRule[], text: string, at: number): ReturnType<GrammarRule['match']> {
  let best: ReturnType<GrammarRule['match']> = null
  for (const { match } of grammar) {
    const found = match(text, at)
    if (found !== null && (best === null || found.length > best.length)) best = found
  }
  return best
}

/** Words that introduce a part. The word after them is the one that is unknown. */
const LEAD_WORDS =
  /(?:every|each|at|in|on|the|from|until|starting|between|except|for|next|only|not)\s+(?=\S)|(?:每个?|除了?|从|到)(?=.)/iuy

function unknownWordError(text: string, from: number): SentenceError {
  let at = from
  for (;;) {
    LEAD_WORDS.lastIndex = at
    const lead = LEAD_WORDS.exec(text)?.[0].length ?? 0
    if (lead === 0) break
    at += lead
  }
  const word = /[\p{Script=Han}]{1,6}|[^\s\p{Script=Han},;()，；]+|./u.exec(text.slice(at))?.[0] ?? ''
  const lead = text.slice(from, at).trim()
  const behind = lead === '' ? '' : ` after "${lead}"`
  return { at, note: { en: `"${word}" is not understood${behind}`, zh: `看不懂“${word}”` } }
}
