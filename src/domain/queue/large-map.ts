/** The number of entries up to which there is only one part. */
const MAX_UNDIVIDED = 8_192
const PARTS = 64

/**
 * A map that may grow to millions of entries. A single Map copies all its entries at once whenever it grows or
 * shrinks and blocks meanwhile: 15 ms with 300,000 entries. Divided into parts that grow at different times, it
 * blocks for a fraction of a millisecond. The order of values is unspecified.
 */
export class LargeMap<K extends string, V> {
  #parts = [new Map<K, V>()]
  #size = 0

  get size(): number {
    return this.#size
  }

  get(key: K): V | undefined {
    return this.#partOf(key).get(key)
  }

  has(key: K): boolean {
    return this.#partOf(key).has(key)
  }

  set(key: K, value: V): void {
    const part = this.#partOf(key)
    const before = part.size
    part.set(key, value)
    this.#size += part.size - before
    if (this.#size > MAX_UNDIVIDED && this.#parts.length === 1) this.#divide()
  }

  delete(key: K): boolean {
    if (!this.#partOf(key).delete(key)) return false
    this.#size -= 1
    if (this.#size === 0) this.#parts = [new Map<K, V>()]
    return true
  }

  *values(): IterableIterator<V> {
    for (const part of this.#parts) yield* part.values()
  }

  *[Symbol.iterator](): IterableIterator<[K, V]> {
    for (const part of this.#parts) yield* part
  }

  #partOf(key: K): Map<K, V> {
    const parts = this.#parts
    return (parts.length === 1 ? parts[0] : parts[partOfKey(key)]) as Map<K, V>
  }

  #divide(): void {
    const all = [...this]
    this.#parts = Array.from({ length: PARTS }, () => new Map<K, V>())
    for (const [key, value] of all) this.#partOf(key).set(key, value)
  }
}

/**
 * The part of each 12-bit hash. Parts of equal size would all grow at the same time; here the last one is nearly
 * twice as large as the first, so that they grow one after the other.
 */
const PART_OF = Uint8Array.from({ length: 4_096 }, (_, hash) => Math.floor(PARTS * Math.log2(1 + hash / 4_096)))

/** Consecutive ids differ in their last characters, so those are hashed. */
export function partOfKey(key: string): number {
  const end = key.length
  const tail = key.charCodeAt(end - 1) + 127 * key.charCodeAt(end - 2) + 16_129 * key.charCodeAt(end - 3)
  return PART_OF[Math.imul(tail, 0x9e3779b1) >>> 20] as number
}
