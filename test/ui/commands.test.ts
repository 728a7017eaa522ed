import { Command } from 'commander'
import { expect, it } from 'vitest'
import { describeCommands } from '../../src/cli/commands.ts'
import { CATALOGUE, LANGUAGES, type TextKey } from '../../ui/texts/catalogue.ts'

const program = new Command('escapement')
await describeCommands(program, { terminal: {} as never, version: '0', settle: () => undefined })

/** What of a command line the command line would not know. */
function unknownIn(line: string): readonly string[] {
  const words = line.split(' ').slice(1)
  let command = program
  for (const word of words) command = command.commands.find((one) => one.name() === word) ?? command
  const known = command.options.map(({ long }) => long)
  const options = words.filter((word) => word.startsWith('--')).filter((word) => !known.includes(word))
  return command.commands.length > 0 ? [...options, `no command: ${line}`] : options
}

it('the console names commands and options that there are', () => {
  const lines = LANGUAGES.flatMap((language) =>
    (Object.keys(CATALOGUE.en) as readonly TextKey[])
      .map((key) => CATALOGUE[language][key])
      .filter((text) => text.startsWith('escapement ')),
  )
  expect(lines.length).toBeGreaterThan(0)
  expect(lines.flatMap(unknownIn)).toEqual([])
  expect(unknownIn('escapement schedules create --every-seconds 60')).toEqual(['--every-seconds'])
})
