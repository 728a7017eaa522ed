import { randomFillSync } from 'node:crypto'

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
