import { randomFillSync } from 'node:crypto'
import { instant, type Instant } from '../domain/instant.ts'

/** The prefix of an id tells its kind. */
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

/** Crockford's alphabet in lower case: no letters that can be mistaken for digits. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

/**
 * A new id: its kind, ten characters of time and sixteen random ones (80 bits). Ids created later sort later, which
 * keeps indexes that grow by them dense; within a millisecond the order is random, and nothing may rely on it.
 */
export function newId(kind: IdKind, now: number, randomBytes: Uint8Array): string {
  if (randomBytes.length < 10) throw new Error(`an id needs 10 random bytes, got ${randomBytes.length}`)
  return ID_PREFIXES[kind] + timePart(now) + randomPart(randomBytes)
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

/** When an id was created, as its text says; null when it is not an id of Escapement. */
export function idTimeOf(id: string): Instant | null {
  const time = /^[a-z]{3}_([0-9a-hjkmnp-tv-z]{10})[0-9a-hjkmnp-tv-z]{16}$/.exec(id)?.[1]
  if (time === undefined) return null
  let ms = 0
  for (const character of time) ms = ms * 32 + ALPHABET.indexOf(character)
  return instant(ms)
}

/** Five bytes are eight characters. */
function randomPart(bytes: Uint8Array): string {
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

/** Two characters at a time: digits in base 1,024. */
const PAIRS = Array.from({ length: 1_024 }, (_, at) => (ALPHABET[at >> 5] ?? '0') + (ALPHABET[at & 31] ?? '0'))

/** How many values the last four characters of an id can take. */
const TAILS = 1_024 * 1_024

/**
 * Creates ids that sort in the order of their creation, also within a millisecond: there the last random part is
 * incremented. Runs of one batch have the same time, and their ids decide their order. The characters that ids of one
 * millisecond share are computed once, because there are thousands of them.
 */
export function createIdGenerator(randomBytes: (count: number) => Uint8Array): (kind: IdKind, now: number) => string {
  let lastMs = -1
  const randomBits = new Uint8Array(10)
  let head = ''
  let tail = 0
  const begin = (): void => {
    const text = randomPart(randomBits)
    head = timePart(lastMs) + text.slice(0, -4)
    tail = (((randomBits[7] ?? 0) & 0x0f) << 16) | ((randomBits[8] ?? 0) << 8) | (randomBits[9] ?? 0)
  }
  const countUp = (): void => {
    tail += 1
    if (tail < TAILS) return
    carryOver(randomBits)
    begin()
  }
  return (kind, now) => {
    const ms = Math.floor(now)
    // A clock that goes back must not create ids that sort before earlier ones.
    if (ms > lastMs) {
      lastMs = ms
      randomBits.set(randomBytes(10))
      // The first bit stays free, so that incrementing cannot overflow.
      randomBits[0] = (randomBits[0] ?? 0) & 0x7f
      begin()
    } else countUp()
    return ID_PREFIXES[kind] + head + (PAIRS[tail >> 10] ?? '') + (PAIRS[tail & 1_023] ?? '')
  }
}

/** The tail has overflowed: increments the bytes before it. */
function carryOver(bytes: Uint8Array): void {
  bytes[9] = 0
  bytes[8] = 0
  const seventh = (bytes[7] ?? 0) & 0xf0
  bytes[7] = (seventh + 0x10) & 0xff
  for (let index = 6; index >= 0 && bytes[index + 1] === 0; index -= 1) bytes[index] = ((bytes[index] ?? 0) + 1) & 0xff
}

/** Random bytes from a buffer that is refilled as a whole: asking for ten costs as much as asking for thousands. */
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
