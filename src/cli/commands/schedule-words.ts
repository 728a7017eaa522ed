import type { Command } from 'commander'
import { wordsInput, type WordsView } from '../../contract/words.ts'
import { oneLine, valueText } from '../output/text.ts'
import { namesOf, valuesOf, withFields, type FieldValues } from '../remote/fields.ts'
import { optionsOf } from '../remote/schema-options.ts'
import { printJson } from '../remote/show.ts'
import { commandOf, remote, type Desk, type Talk } from '../remote/talk.ts'
import { UsageError } from '../remote/usage.ts'
import { showPreview } from './schedule-answers.ts'

const FIELDS = optionsOf(wordsInput, { text: null })

/** `escapement schedules parse`: what a sentence about time means. */
export function addParse(group: Command, desk: Desk): void {
  const command = commandOf(group, 'parse <text>', 'parse a time in natural language into fields, words and dates')
  remote(desk, withFields(command, FIELDS), {
    names: { ...namesOf(FIELDS), '/text': 'TEXT' },
    work: async (talk, [text = ''], options) => {
      const words = await talk.client.schedules.parse({ text, ...valuesOf(FIELDS, options, talk.now) })
      await (talk.json ? printJson(talk, words) : showWords(talk, words))
    },
  })
}

async function showWords(talk: Talk, words: WordsView): Promise<void> {
  await showPreview(talk, words)
  const fields = Object.entries(words.fields).map(([name, value]) => `  ${name}: ${oneLine(valueText(value))}`)
  const rest = words.rest === null ? [] : ['', `To do: ${oneLine(words.rest)}`]
  await talk.print(['', ...notesOf(words), 'Fields:', ...fields, ...rest, ''].join('\n'))
}

const notesOf = ({ notes }: WordsView): readonly string[] =>
  notes.length === 0 ? [] : ['Read so:', ...notes.map((note) => `  ${oneLine(note)}`), '']

/** The option that says when in words. */
export const withWhen = (command: Command): Command =>
  command.option(
    '--when <words>',
    'time in natural language: "every weekday at 9 in Berlin"; text after a colon is the payload',
  )

const TIMES = ['cron', 'every_seconds', 'at', 'rrule']

/** Says how to say when, where no option does: the server would name its fields, which are called otherwise here. */
export function refuseWithoutTime(body: FieldValues): void {
  if (TIMES.some((field) => body[field] !== undefined)) return
  throw new UsageError(
    'Nothing says when: give --when "every weekday at 9 in Berlin", --cron "0 9 * * 1-5" with --tz, --every 30m, --at or --rrule',
  )
}

/** What is sent, with what the words mean in it; options that were given win. What was decided is told. */
export async function withWords(talk: Talk, when: string | undefined, body: FieldValues): Promise<FieldValues> {
  if (when === undefined) return body
  const { timezone } = body
  const place = typeof timezone === 'string' ? { timezone } : {}
  const words = await talk.client.schedules.parse({ text: when, ...place })
  for (const note of words.notes) await talk.note(`${oneLine(note)}\n`)
  return { ...words.fields, ...(words.rest === null ? {} : { payload: words.rest }), ...body }
}
