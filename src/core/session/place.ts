/**
 * Turns up to this one give a million places each, as version 0.1.0 did: nodes of both versions order sessions alike.
 * Later turns give fewer, so that places stay exact numbers for 38 more years of 1,000 turns a second.
 */
const WIDE_TURNS = 4_000_000_000
const WIDE = 1_000_000
const NARROW = 4_096

/**
 * The place in its session of the run that enters the queue as the `given`-th of a turn, counted from 1. Places need no
 * counter on record: every place of a later turn is higher. When a turn has none left the last place is shared, and age
 * decides between those who share it.
 */
export function placeIn(turnNo: number, given: number): number {
  const later = turnNo - WIDE_TURNS
  if (later <= 0) return turnNo * WIDE + Math.min(given, WIDE - 1)
  return WIDE_TURNS * WIDE + (WIDE - NARROW) + later * NARROW + Math.min(given, NARROW - 1)
}
