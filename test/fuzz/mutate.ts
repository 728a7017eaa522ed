import type { Random } from '../simulation/random.ts'
import { longText, ODD_TEXTS, oddValue } from './odd-values.ts'

/** The words of a language, for whoever changes a text of it. */
export type Words = readonly string[]

/** An input that is like another one, but not quite. Texts stay texts, and objects objects, most of the time. */
export function mutate(input: unknown, random: Random, words: Words): unknown {
  if (typeof input === 'string') return mutateText(input, random, words)
  if (typeof input === 'number') return random.one([input + 1, -input, input * 1e9, input / 7, String(input), 0])
  if (Array.isArray(input)) return mutateList(input, random, words)
  if (typeof input === 'object' && input !== null) return mutateObject(input, random, words)
  return random.chance(0.5) ? oddValue(random) : input
}

/** A few changes at once: insert, cut out, double, swap, replace. */
function mutateText(text: string, random: Random, words: Words): string {
  let changed = text
  for (let left = random.int(1, 3); left > 0; left -= 1) changed = changeOnce(changed, random, words)
  return changed
}

function changeOnce(text: string, random: Random, words: Words): string {
  const at = random.int(0, text.length)
  const end = Math.min(text.length, at + random.int(1, 8))
  const [before, piece, after] = [text.slice(0, at), text.slice(at, end), text.slice(end)]
  switch (random.int(0, 9)) {
    case 0:
      return before + after
    case 1:
      return before + piece + piece + after
    case 2:
    case 3:
    case 4:
      return before + random.one([...words, ...words, ...ODD_TEXTS]) + (random.chance(0.5) ? after : piece + after)
    case 5:
      return before + String.fromCharCode(random.int(0, random.chance(0.7) ? 127 : 0xffff)) + after
    case 6:
      return after + before
    case 7:
      return text.replace(/\d+/, () => random.one(['0', '-1', '99', '366', '1000000', '99999999999', '٣', '1.5']))
    case 8:
      return random.chance(0.3) ? before + longText(random) + after : before + piece.toUpperCase() + after
    default:
      return before + Array.from(piece).toReversed().join('') + after
  }
}

function mutateList(list: readonly unknown[], random: Random, words: Words): unknown {
  const at = random.int(0, Math.max(0, list.length - 1))
  switch (random.int(0, 4)) {
    case 0:
      return list.toSpliced(at, 1)
    case 1:
      return [...list, oddValue(random)]
    case 2:
      return list.length > 0 && list.length < 300 ? [...list, ...list] : list
    case 3:
      return random.chance(0.2) ? oddValue(random) : list.toReversed()
    default:
      return list.length === 0 ? [oddValue(random)] : list.with(at, mutate(list[at], random, words))
  }
}

function mutateObject(input: object, random: Random, words: Words): unknown {
  const fields = Object.entries(input) as [string, unknown][]
  const at = random.int(0, Math.max(0, fields.length - 1))
  const [name, value] = fields[at] ?? ['a', null]
  switch (random.int(0, 6)) {
    case 0:
      return Object.fromEntries(fields.toSpliced(at, 1))
    case 1:
      return Object.fromEntries([...fields, [random.one([...words, ...ODD_TEXTS]), oddValue(random)]])
    case 2:
      return { ...input, [name]: oddValue(random) }
    default:
      return { ...input, [name]: mutate(value, random, words) }
  }
}
