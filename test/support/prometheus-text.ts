/** One line of numbers. */
export interface Series {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** What was read of an exposition. */
export interface Exposition {
  readonly series: readonly Series[]
  readonly types: ReadonlyMap<string, string>
  readonly help: ReadonlyMap<string, string>
  /** The value of the one series with these labels and no others. */
  readonly value: (name: string, labels?: Readonly<Record<string, string>>) => number
  /** The values of a metric, by its one label. */
  readonly by: (name: string, label: string) => Readonly<Record<string, number>>
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/
const LABEL = /^[a-zA-Z_][a-zA-Z0-9_]*$/
const TYPES = new Set(['counter', 'gauge', 'histogram'])

/**
 * Reads the text format of Prometheus as its own parser does, and complains of everything that parser or `promtool check
 * metrics` would: lines that are none, metrics without HELP and TYPE or in two places, series that come twice, labels that
 * are not escaped, counters that do not end in _total, histograms that do not add up.
 */
export function parsePrometheusText(text: string): Exposition {
  if (!text.endsWith('\n')) throw new Error('the last line does not end')
  const help = new Map<string, string>()
  const types = new Map<string, string>()
  const series: Series[] = []
  const seen = new Set<string>()
  let current = ''
  for (const line of text.split('\n')) {
    if (line === '') continue
    const comment = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line)
    if (comment !== null) {
      const [, kind, name = '', rest = ''] = comment
      const known = kind === 'HELP' ? help : types
      if (known.has(name)) throw new Error(`${name} is described twice`)
      if (!NAME.test(name) || rest.trim() === '') throw new Error(`not a description: ${line}`)
      if (kind === 'TYPE' && !TYPES.has(rest)) throw new Error(`not a type: ${line}`)
      known.set(name, rest)
      current = name
      continue
    }
    const read = readLine(line)
    const family = familyOf(read.name, types)
    if (family !== current) throw new Error(`${read.name} stands under ${current}`)
    const key = JSON.stringify([read.name, Object.entries(read.labels).toSorted()])
    if (seen.has(key)) throw new Error(`a series comes twice: ${line}`)
    seen.add(key)
    series.push(read)
  }
  for (const [name, type] of types) check(name, type, { help, series })
  return exposition(series, types, help)
}

function exposition(
  series: readonly Series[],
  types: ReadonlyMap<string, string>,
  help: ReadonlyMap<string, string>,
): Exposition {
  return {
    ...{ series, types, help },
    value: (name, labels = {}) => {
      const wanted = JSON.stringify(Object.entries(labels).toSorted())
      const found = series.find(
        (one) => one.name === name && JSON.stringify(Object.entries(one.labels).toSorted()) === wanted,
      )
      if (found === undefined) throw new Error(`there is no ${name} ${wanted}`)
      return found.value
    },
    by: (name, label) =>
      Object.fromEntries(
        series.filter((one) => one.name === name).map(({ labels, value }) => [labels[label] ?? '', value]),
      ),
  }
}

function familyOf(name: string, types: ReadonlyMap<string, string>): string {
  if (types.has(name)) return name
  const base = name.replace(/_(bucket|sum|count)$/, '')
  if (types.get(base) !== 'histogram') throw new Error(`${name} has no TYPE`)
  return base
}

function readLine(line: string): Series {
  const head = /^([a-zA-Z_:][a-zA-Z0-9_:]*)/.exec(line)?.[1]
  if (head === undefined) throw new Error(`not a series: ${line}`)
  const labels: Record<string, string> = {}
  let rest = line.slice(head.length)
  if (rest.startsWith('{')) {
    rest = rest.slice(1)
    while (!rest.startsWith('}')) {
      const pair = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(,|(?=\}))/.exec(rest)
      if (pair === null) throw new Error(`not a label: ${rest} in ${line}`)
      const [all, name = '', value = ''] = pair
      if (!LABEL.test(name) || name in labels) throw new Error(`a label comes twice: ${line}`)
      labels[name] = value.replace(/\\([\\"n])/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped))
      rest = rest.slice(all.length)
    }
    rest = rest.slice(1)
  }
  const value = /^ ([+-]?(?:\d+\.?\d*(?:e[+-]?\d+)?|Inf)|NaN)$/i.exec(rest)?.[1]
  if (value === undefined) throw new Error(`not a number: ${line}`)
  return { name: head, labels, value: Number(value.replace('Inf', 'Infinity')) }
}

function check(
  name: string,
  type: string,
  { help, series }: { readonly help: ReadonlyMap<string, string>; readonly series: readonly Series[] },
): void {
  if (!help.has(name)) throw new Error(`${name} has no HELP`)
  if (type === 'counter' && !name.endsWith('_total')) throw new Error(`the counter ${name} does not end in _total`)
  if (type !== 'counter' && name.endsWith('_total')) throw new Error(`${name} ends in _total and is no counter`)
  const own = series.filter((one) => one.name === name)
  if (type === 'counter' && own.some(({ value }) => !(value >= 0))) throw new Error(`${name} is below 0`)
  if (type === 'histogram') checkHistogram(name, series)
}

function checkHistogram(name: string, series: readonly Series[]): void {
  const buckets = series.filter((one) => one.name === `${name}_bucket`)
  const count = series.find((one) => one.name === `${name}_count`)?.value
  const bounds = buckets.map(({ labels }) => Number(labels['le']?.replace('+Inf', 'Infinity')))
  const values = buckets.map(({ value }) => value)
  const rises = (list: readonly number[]): boolean => list.every((one, at) => at === 0 || one >= (list[at - 1] ?? 0))
  if (!rises(bounds) || bounds.at(-1) !== Infinity) throw new Error(`the bounds of ${name} are wrong: ${bounds.join()}`)
  if (!rises(values) || values.at(-1) !== count) throw new Error(`the buckets of ${name} do not add up`)
  if (series.every((one) => one.name !== `${name}_sum`)) throw new Error(`${name} has no sum`)
}
