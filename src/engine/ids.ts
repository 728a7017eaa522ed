import { randomFillSync } from 'node:crypto'
import { instant, type Instant } from '../domain/instant.ts'

/** What an id begins with says what it is of. */
export const ID_PREFIXES = {
  run: 'run_',
  task: 'tsk_',
  attempt: 'att_',
  schedule: 'sch_',
  agent: 'agt_',
  message: 'msg_',
  org: 'org_',
  key: 'key_',
  node: 'nod_',
  budget: 'bud_',
  member: 'mem_',
  target: 'tgt_',
  alert: 'alr_',
  beat: 'hbt_',
  delivery: 'dlv_',
  test: 'tst_',
  channel: 'chn_',
  worker: 'wrk_',
  backfill: 'bkf_',
} as const

export type IdKind = keyof typeof ID_PREFIXES

/** Crockford's alphabet in lower case: no letters that are mistaken for figures. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

/**
 * A new id: its kind, ten characters of time and sixteen of chance (80 bits). Ids made later sort later, which keeps
 * indexes that grow by them dense; within a millisecond chance decides, and nothing may rely on that order.
 */
export function newId(kind: IdKind, now: number, randomBytes: Uint8Array): string {
  if (randomBytes.length < 10) throw new Error('an id needs ten random bytes')
  return ID_PREFIXES[kind] + timePart(now) + chancePart(randomBytes)
}

function timePart(now: number): string {
  let left = Math.max(0, Math.floor(now))
  let text = ''
  for (let index = 0; index < 10; index += 1) {
    text = (ALPHABET[left % 32] ?? '0') + text
    left = Math.floor(left / 32)
  }
  return text
}

/** When an id was made, as it says itself; null when it is none of ours. */
export function idTimeOf(id: string): Instant | null {
  const time = /^[a-z]{3}_([0-9a-hjkmnp-tv-z]{10})[0-9a-hjkmnp-tv-z]{16}$/.exec(id)?.[1]
  if (time === undefined) return null
  let ms = 0
  for (const character of time) ms = ms * 32 + ALPHABET.indexOf(character)
  return instant(ms)
}

/** Five bytes are eight characters. */
function chancePart(bytes: Uint8Array): string {
  let text = ''
  let bits = 0
  let held = 0
  for (const byte of bytes.subarray(0, 10)) {
    held = (held << 8) | byte
    bits += 8
    while (bits >= 5) {
      bits -= 5
      text += ALPHABET[(held >> bits) & 31] ?? '0'
    }
    held &= (1 << bits) - 1
  }
  return text
}

/** Two characters at a time: figures of the base 1,024. */
const PAIRS = Array.from({ length: 1_024 }, (_, at) => (ALPHABET[at >> 5] ?? '0') + (ALPHABET[at & 31] ?? '0'))

/** What the last four characters of an id can say. */
const TAILS = 1_024 * 1_024

/**
 * Makes ids that sort in the order in which they were made, also within a millisecond: there the last chance is counted
 * up by one. Runs of one batch have the same moment, and their ids decide who goes first. What ids of a millisecond have
 * in common is written once, because there are thousands of them.
 */
export function createIdMaker(randomBytes: (count: number) => Uint8Array): (kind: IdKind, now: number) => string {
  let lastMs = -1
  const chance = new Uint8Array(10)
  let head = ''
  let tail = 0
  const begin = (): void => {
    const text = chancePart(chance)
    head = timePart(lastMs) + text.slice(0, -4)
    tail = (((chance[7] ?? 0) & 0x0f) << 16) | ((chance[8] ?? 0) << 8) | (chance[9] ?? 0)
  }
  const countUp = (): void => {
    tail += 1
    if (tail < TAILS) return
    carry(chance)
    begin()
  }
  return (kind, now) => {
    const ms = Math.floor(now)
    // A clock that goes back must not make ids that sort before earlier ones.
    if (ms > lastMs) {
      lastMs = ms
      chance.set(randomBytes(10))
      // Room to count: the first bit stays free.
      chance[0] = (chance[0] ?? 0) & 0x7f
      begin()
    } else countUp()
    return ID_PREFIXES[kind] + head + (PAIRS[tail >> 10] ?? '') + (PAIRS[tail & 1_023] ?? '')
  }
}

/** The tail is used up: it begins anew, and what is before it counts one. */
function carry(bytes: Uint8Array): void {
  bytes[9] = 0
  bytes[8] = 0
  const seventh = (bytes[7] ?? 0) & 0xf0
  bytes[7] = (seventh + 0x10) & 0xff
  for (let index = 6; index >= 0 && bytes[index + 1] === 0; index -= 1) bytes[index] = ((bytes[index] ?? 0) + 1) & 0xff
}

/** Random bytes from a supply that is filled a page at a time: asking for ten costs as much as asking for thousands. */
export function createRandomBytes(): (count: number) => Uint8Array {
  const supply = Buffer.alloc(8_192)
  let used = supply.length
  return (count) => {
    if (used + count > supply.length) {
      randomFillSync(supply)
      used = 0
    }
    used += count
    return supply.subarray(used - count, used)
  }
}
