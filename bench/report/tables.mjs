// Markdown out of the record of a run.

/** One table; the columns are those of its rows, in the order in which they first occur. */
export function tableOf(rows) {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  const line = (cells) => `| ${cells.join(' | ')} |`
  return [
    line(columns.map(escaped)),
    line(columns.map(() => '---')),
    ...rows.map((row) => line(columns.map((column) => cellOf(row[column])))),
  ].join('\n')
}

/** What is shown of one part: its title, its tables and what has to be said about them. */
export function partOf({ title, rows, tables, notes = [], seconds, loadAverage, when }) {
  const all = rows === undefined ? Object.entries(tables) : [['', rows]]
  return [
    `**${title}**`,
    ...all.flatMap(([heading, of]) => [...(heading === '' ? [] : [`_${heading}_`]), tableOf(of)]),
    ...notes.map(textOf),
    `Took ${seconds} s${when === undefined ? '' : ` on ${when.slice(0, 10)}`}; load average before it ${loadAverage.toFixed(1)}.`,
  ].join('\n\n')
}

/** Where and with what was measured. */
export function machineOf({ when, quick, rounds, machine, versions, failed = [], absent = [] }) {
  const { processor, memoryGiB, platform, node, postgres, redis } = machine
  const facts = [
    { what: 'when', is: when.slice(0, 10) },
    { what: 'processor', is: processor },
    { what: 'memory', is: `${memoryGiB} GiB` },
    { what: 'platform', is: platform },
    { what: 'Node, for everybody', is: node },
    { what: 'PostgreSQL', is: postgres },
    { what: 'Redis', is: redis },
    ...Object.entries(versions).map(([name, version]) => ({ what: name, is: version })),
    { what: 'rounds', is: rounds },
  ]
  return [
    ...(quick
      ? [
          '**These figures are from a quick run: smaller counts, one round. They show that the command works and nothing else.**',
        ]
      : []),
    tableOf(facts.map(({ what, is }) => ({ '': what, ' ': is }))),
    ...(failed.length === 0 ? [] : [`Not measured, because they failed: ${failed.join(', ')}.`]),
    ...absent.map((line) => `Left out: ${textOf(line)}.`),
  ].join('\n\n')
}

const cellOf = (value) => {
  if (value === null || value === undefined || value === '') return '–'
  return escaped(typeof value === 'number' ? value.toLocaleString('en-US') : String(value))
}

const escaped = (value) => textOf(value).replaceAll('|', '\\|')

/** Figures and names that would be read as markup are not. */
export const textOf = (value) => value.replaceAll('*', '\\*').replaceAll('_', '\\_').replaceAll('<', '&lt;')
