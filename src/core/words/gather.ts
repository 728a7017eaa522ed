import { addAll } from '../../domain/long-lists.ts'
import { CHINESE } from './chinese.ts'
import { ENGLISH } from './english.ts'
import type { Clause, ClockTime, Complaint, DayPart, Language, Note, Part, Saying } from '../../domain/words/parts.ts'

type PartOf<Kind extends Saying['kind']> = Extract<Part, { readonly kind: Kind }>

/** Everything that a sentence says, put together by kind. Empty and null: it says nothing of that. */
export interface Said {
  readonly parts: readonly Part[]
  readonly step: PartOf<'step'> | null
  readonly weekdays: readonly number[]
  readonly places: readonly { readonly place: number; readonly day: number }[]
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

/** Things of which a sentence may say only one. */
const SINGLE: readonly Saying['kind'][] = ['step', 'span', 'zone', 'day', 'after', 'starts', 'ends', 'nearest', 'fires']
const DAYS: readonly Saying['kind'][] = ['weekdays', 'places', 'dates', 'nearest', 'yearday', 'day']
const TIMES: readonly Saying['kind'][] = ['times', 'minutes', 'span']

/** Complains about the part at which it stops making sense. */
export const complainOf = (part: { readonly at: number }, note: Note): Complaint => ({ at: part.at, note })

/** The part of a kind that was said first. */
export const partOf = (said: Pick<Said, 'parts'>, ...kinds: readonly Saying['kind'][]): Part | null =>
  said.parts.find(({ kind }) => kinds.includes(kind)) ?? null

/** Puts together what belongs together, or says which part contradicts an earlier one. */
export function gather(parts: readonly Part[]): Said | Complaint {
  const twice = parts.find(
    (part, index) =>
      SINGLE.includes(part.kind) &&
      parts.slice(0, index).some((other) => other.kind === part.kind && !isSame(part, other)),
  )
  if (twice !== undefined)
    return complainOf(twice, {
      en: `"${twice.text.trim()}" contradicts what was said before it`,
      zh: `“${twice.text.trim()}”与前面的内容矛盾`,
    })
  const mixed = mixedAt(parts)
  if (mixed !== null)
    return complainOf(mixed, {
      en: 'two schedules in one sentence: make one for each',
      zh: '一句话里有两个计划，请分成两个',
    })
  return said(parts)
}

const isSame = (a: Part, b: Part): boolean =>
  JSON.stringify({ ...a, at: 0, text: '' }) === JSON.stringify({ ...b, at: 0, text: '' })

/** "Mondays at 9 and Tuesdays at 10" must not become both days at both times. */
function mixedAt(parts: readonly Part[]): Part | null {
  const kinds = parts.map((part) => (DAYS.includes(part.kind) ? 'day' : TIMES.includes(part.kind) ? 'time' : null))
  for (let index = 0; index < parts.length; index += 1) {
    const kind = kinds[index]
    if (kind === null || kind === undefined) continue
    const first = kinds.indexOf(kind)
    const between = kinds.slice(first, index).some((other) => other !== null && other !== kind)
    if (first < index && between) return parts[index] ?? null
  }
  return null
}

function said(parts: readonly Part[]): Said {
  const all = <Kind extends Saying['kind']>(kind: Kind): readonly PartOf<Kind>[] =>
    parts.filter((part): part is PartOf<Kind> => part.kind === kind)
  const first = <Kind extends Saying['kind']>(kind: Kind): PartOf<Kind> | null => all(kind)[0] ?? null
  return {
    parts,
    step: first('step'),
    weekdays: sorted(all('weekdays').flatMap(({ days }) => days)),
    places: all('places').flatMap(({ places, days }) => places.flatMap((place) => days.map((day) => ({ place, day })))),
    dates: sorted(all('dates').flatMap(({ dates }) => dates)),
    nearest: first('nearest')?.which ?? null,
    months: sorted(all('months').flatMap(({ months }) => months)),
    yeardays: all('yearday').map(({ month, day }) => ({ month, day })),
    times: all('times').flatMap(({ times }) => times),
    minutes: sorted(all('minutes').flatMap(({ minutes }) => minutes)),
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

const sorted = (values: readonly number[]): readonly number[] => [...new Set(values)].sort((a, b) => a - b)

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
