import type { Drawn } from '../../server/contract/hostile.ts'
import { HOSTILE_VALUES } from '../../security/hostile-values.ts'
import type { Random } from '../../simulation/random.ts'

const VALUES = Object.entries(HOSTILE_VALUES)

/** A body that costs more than it looks like: deep, wide, dense or large, as a whole or in one of its fields. */
export function burdened(drawn: Drawn, random: Random): Drawn {
  const { body } = drawn
  if (drawn.raw !== undefined || typeof body !== 'object' || body === null) return drawn
  const [name, value] = random.one(VALUES)
  const fields = Object.entries(body).map(([field, text]) => `${JSON.stringify(field)}:${JSON.stringify(text)}`)
  const at = random.int(0, fields.length)
  const field = Object.keys(body)[at] ?? 'payload'
  const inside = `{${fields.toSpliced(at, 1, `${JSON.stringify(field)}:${value}`).join(',')}}`
  return { ...drawn, kind: `burdened: ${name}`, refused: false, raw: random.chance(0.3) ? value : inside }
}
