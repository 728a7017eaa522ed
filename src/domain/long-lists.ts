/** Appends items one by one: as arguments of one `push`, 100,000 items would overflow the stack. */
export function addAll<T>(list: T[], more: Iterable<T>): void {
  for (const one of more) list.push(one)
}

/** The largest of any number of numbers; -Infinity if there are none. */
export const largest = (numbers: Iterable<number>): number => {
  let most = Number.NEGATIVE_INFINITY
  for (const number of numbers) most = Math.max(most, number)
  return most
}

/** The smallest of any number of numbers; Infinity if there are none. */
export const smallest = (numbers: Iterable<number>): number => {
  let least = Number.POSITIVE_INFINITY
  for (const number of numbers) least = Math.min(least, number)
  return least
}
