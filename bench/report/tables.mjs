// Renders the record of a run as Markdown.

/** A table; its columns are the keys of its rows, in the order of their first occurrence. */
export function tableOf(rows) {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  const line = (cells) => `| ${cells.join(' | ')} |`
  return [
    line(columns.map(escaped)),
    line(columns.map(() => '---')),
    ...rows.map((row) => line(columns.map((column) => cellOf(row[column])))),
  ].join('\n')
}

/** One part: its title, its tables and its notes. */
export function partOf({ title, rows, tables, notes = [], seconds, loadAverage, when }) {
  const all = rows === undefined ? Object.entries(tables) : [['', rows]]
  return [
    `**${title}**`,
    ...all.flatMap(([heading, of]) => [...(heading === '' ? [] : [`_${heading}_`]), tableOf(of)]),
    ...notes.map(textOf),
    `Took ${seconds} s${when === undefined ? '' : ` on ${when.slice(0, 10)}`}; load average before it ${loadAverage.toFixed(1)}.`,
  ].join('\n\n')
}

/** The machine and the versions. */
export function machineOf({ when, quick, rounds, machine, versions, failed = [], absent = [] }) {
  const { processor, memoryGiB, platform, node, postgres, redis } = machine
  const facts = [
    { what: 'when', is: when.slice(0, 10) },
    { what: 'processor', is: processor },
    { what: 'memory', is: `${memoryGiB} GiB` },
    { what: 'platform', is: platform },
    { what: 'Node, all contestants', is: node },
    { what: 'PostgreSQL', is: postgres },
    { what: 'Redis', is: redis },
    ...Object.entries(versions).map(([name, version]) => ({ what: name, is: version })),
    { what: 'rounds', is: rounds },
  ]
  return [
    ...(quick
      ? [
          '**These figures are from a quick run with smaller counts and one round. They only show that the command works.**',
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

/** Escapes characters that would be read as markup. */
export const textOf = (value) => value.replaceAll('*', '\\*').replaceAll('_', '\\_').replaceAll('<', '&lt;')
