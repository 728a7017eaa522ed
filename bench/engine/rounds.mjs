// Interleaved rounds, so that other load on the machine affects all contestants.

/**
 * Calls `once(contestant, store)` for every contestant in each round, with a new store each time. Returns the results by
 * contestant. If a contestant fails, the whole part fails, because an incomplete table would be misleading.
 */
export async function inTurns(bench, { name, contestants = bench.contestants, rounds = bench.rounds, show }, once) {
  const results = Object.fromEntries(contestants.map((contestant) => [contestant.name, []]))
  for (let round = 0; round < rounds; round += 1)
    for (const contestant of contestants) {
      const result = await bench.withStore(contestant, name, (store) => once(contestant, store))
      results[contestant.name].push(result)
      bench.say(`${contestant.name} ${show(result)}`)
    }
  return results
}

/** Throws if the store of a contestant doesn't contain the submitted number of jobs. */
export function demand(contestant, what, { is, expected }) {
  if (is !== expected) throw new Error(`${contestant}: ${what}: ${is} in its store, and ${expected} were submitted`)
}
