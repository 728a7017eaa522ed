/** So many seeds from the first on. */
export const seedsFrom = (first: number, count: number, step = 1): readonly number[] =>
  Array.from({ length: count }, (_, index) => first + index * step)

/** Whoever asks for one world wants to see that one alone: `ESCAPEMENT_SEED=123 npm test faults`. */
export const askedSeed = (): number | null => {
  const asked = process.env['ESCAPEMENT_SEED']
  return asked === undefined || asked === '' ? null : Number(asked)
}

/** Totals as a line for the log, by name: what was not exercised was not tested. */
export const countsLine = (what: string, counts: Readonly<Record<string, number>>): string =>
  `  ${what.padEnd(11)}${Object.entries(counts)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, count]) => `${name} ${count}`)
    .join(', ')}`
