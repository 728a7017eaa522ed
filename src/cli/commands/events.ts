import type { Command } from 'commander'
import { EVENT_KINDS, type EventKind } from '../../contract/event-kinds.ts'
import { eventFilter, type EventView } from '../../contract/event.ts'
import { oneLine, valueText } from '../output/text.ts'
import { valuesOf, withFields } from '../remote/fields.ts'
import { filtersOf } from '../remote/schema-options.ts'
import { printJsonLine } from '../remote/show.ts'
import { remote, type Desk, type Talk } from '../remote/talk.ts'
import { UsageError } from '../remote/usage.ts'

const FILTER = filtersOf(eventFilter, { kinds: null, last_event_id: null })

/** How many events are enough. */
export interface MostOptions {
  readonly count?: string
}

/** Adds the option that ends a stream. */
export const withMost = (command: Command): Command => command.option('--count <n>', 'end after this many events')

/** How many events are wanted; without a word, all there ever will be. */
export function mostOf({ count }: MostOptions): number {
  if (count === undefined) return Number.POSITIVE_INFINITY
  if (!/^[1-9]\d{0,8}$/.test(count)) throw new UsageError(`--count "${count}" must be a whole number from 1 on`)
  return Number(count)
}

interface EventsOptions extends MostOptions {
  readonly kinds?: string
  readonly since?: string
}

/** `escapement events`: what happens, as it happens. */
export function addEvents(command: Command, desk: Desk): void {
  withMost(withFields(command, FILTER))
    .option('--kinds <kinds>', `event kinds, separated by commas: ${EVENT_KINDS.join(', ')}`)
    .option('--since <id>', 'continue after this event, of the last 24 hours')
  remote<EventsOptions>(desk, command, {
    work: async (talk, _, options) => {
      const kinds = kindsOf(options.kinds)
      const filter = { ...valuesOf(FILTER, options, talk.now), ...(kinds === null ? {} : { kinds }) }
      const most = mostOf(options)
      let seen = 0
      const from = {
        onOpen: () => void talk.note('Listening; Ctrl-C ends it.\n'),
        ...(options.since === undefined ? {} : { lastEventId: options.since }),
      }
      for await (const event of talk.client.events(filter, from)) {
        if (talk.json) await printJsonLine(talk, event)
        else if (event.kind === 'reset') await talk.note(`Some events were missed; it goes on behind ${event.id}.\n`)
        else await talk.print(lineOf(talk, event))
        if ((seen += 1) >= most) return
      }
    },
  })
}

function kindsOf(text: string | undefined): readonly EventKind[] | null {
  if (text === undefined) return null
  const words = text.split(',').map((word) => word.trim())
  const strange = words.find((word) => !(EVENT_KINDS as readonly string[]).includes(word))
  if (strange !== undefined)
    throw new UsageError(`--kinds "${strange}" is no kind of event. Allowed: ${EVENT_KINDS.join(', ')}`)
  return words as readonly EventKind[]
}

function lineOf({ style }: Talk, { id, at, kind, subject, data }: EventView): string {
  const facts = Object.entries(data).map(([name, value]) => `${name}=${oneLine(valueText(value))}`)
  return `${style.dim(id)}  ${at}  ${style.bold(kind)}  ${oneLine(subject)}  ${facts.join(' ')}\n`
}
