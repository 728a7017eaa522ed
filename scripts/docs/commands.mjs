/** Options that are described once, above the commands. */
const COMMON = ['--json', '--url <url>', '--data <directory>']
const PAGES = ['--limit <n>', '--cursor <cursor>', '--all']

/** The commands of src/cli as a chapter: an overview by heading, then each command with its own options. */
export function renderCommands(commands) {
  const headings = [...new Set(commands.map(({ heading }) => heading))]
  const overview = headings.flatMap((heading) => [
    `**${heading}**`,
    '',
    '| Command | Description |',
    '| --- | --- |',
    ...commands
      .filter((command) => command.heading === heading)
      .map(({ usage, about }) => `| ${code(usage)} | ${cell(about)} |`),
    '',
  ])
  return [...overview, ...commands.flatMap(renderCommand)].join('\n')
}

function renderCommand({ usage, options }) {
  const flags = options.map((option) => option.flags)
  const talks = COMMON.every((flag) => flags.includes(flag))
  const lists = PAGES.every((flag) => flags.includes(flag))
  const own = options.filter(
    (option) => !(talks && COMMON.includes(option.flags)) && !(lists && PAGES.includes(option.flags)),
  )
  if (own.length === 0) return []
  const more = lists ? ['', 'Plus the [list options](#list-options).'] : []
  return [`### ${code(usage)}`, '', '| Option | Description |', '| --- | --- |', ...own.map(renderOption), ...more, '']
}

const renderOption = ({ flags, about, usual }) =>
  `| ${code(flags)} | ${cell(about)}${usual === null ? '' : ` (default ${code(usual)})`} |`

const cell = (text) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;')
const code = (text) => `\`${text.replaceAll('|', '\\|')}\``
