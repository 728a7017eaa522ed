// Rounds in turns: what the machine does meanwhile befalls everybody.

/**
 * Calls `once(contestant, store)` for every contestant as often as there are rounds, in turns and each time on a store of
 * its own. Answers with what came back, by contestant. A contestant that fails ends the part: a table with a hole would
 * be read as a table.
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

/** Fails loudly when the store of a contestant does not hold what was submitted. */
export function demand(contestant, what, { is, expected }) {
  if (is !== expected) throw new Error(`${contestant}: ${what}: ${is} in its store, and ${expected} were submitted`)
}
