import { setImmediate } from 'node:timers/promises'

/** So many items are looked at before other requests have their turn. */
const PIECE = 20

/** Lets other requests have their turn, in the middle of work that is longer than they should wait. */
export const letOthers = (): Promise<void> => setImmediate(undefined)

/** Looks at items one after the other, and lets other requests have their turn in between. */
export async function inPieces<Item, Found>(
  items: readonly Item[],
  look: (item: Item, index: number) => Found | Promise<Found>,
): Promise<readonly Found[]> {
  const found: Found[] = []
  for (const [index, item] of items.entries()) {
    if (index % PIECE === PIECE - 1) await letOthers()
    found.push(await look(item, index))
  }
  return found
}
