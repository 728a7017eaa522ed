import type { Command } from 'commander'
import { EVENT_KINDS, eventFilter, type EventKind, type EventView } from './schema.ts'
import { oneLine, valueText } from '../../cli/output/text.ts'
import { valuesOf, withFields } from '../../cli/remote/fields.ts'
import { filtersOf } from '../../cli/remote/schema-options.ts'
import { countOf, type CountOptions, printJsonLine, withCount } from '../../cli/remote/show.ts'
import { type CliContext, remote, type CliCall, UsageError } from '../../cli/remote/call.ts'

const FILTER = filtersOf(eventFilter, { kinds: null, last_event_id: null })

interface EventsOptions extends CountOptions {
  readonly kinds?: string
  readonly since?: string
}

/** `escapement events`: streams events. */
export function addEvents(command: Command, cli: CliContext): void {
  withCount(withFields(command, FILTER))
    .option('--kinds <kinds>', `only these event kinds, comma-separated: ${EVENT_KINDS.join(', ')}`)
    .option('--since <id>', 'continue after this event of the last 24 hours')
  remote<EventsOptions>(cli, command, {
    work: async (call, _, options) => {
      const kinds = kindsOf(options.kinds)
      const filter = { ...valuesOf(FILTER, options, call.now), ...(kinds === null ? {} : { kinds }) }
      const maxCount = countOf(options)
      let seen = 0
      const from = {
        onOpen: () => void call.note('Waiting for events. Press Ctrl-C to stop.\n'),
        ...(options.since === undefined ? {} : { lastEventId: options.since }),
      }
      for await (const event of call.client.events(filter, from)) {
        if (call.json) await printJsonLine(call, event)
        else if (event.kind === 'reset') await call.note(`Some events were missed. Continuing after ${event.id}.\n`)
        else await call.print(lineOf(call, event))
        if ((seen += 1) >= maxCount) return
      }
    },
  })
}

function kindsOf(text: string | undefined): readonly EventKind[] | null {
  if (text === undefined) return null
  const words = text.split(',').map((word) => word.trim())
  const unknown = words.find((word) => !(EVENT_KINDS as readonly string[]).includes(word))
  if (unknown !== undefined) throw new UsageError(`Invalid --kinds "${unknown}". Allowed: ${EVENT_KINDS.join(', ')}`)
  return words as readonly EventKind[]
}

function lineOf({ style }: CliCall, { id, at, kind, subject, data }: EventView): string {
  const facts = Object.entries(data).map(([name, value]) => `${name}=${oneLine(valueText(value))}`)
  return `${style.dim(id)}  ${at}  ${style.bold(kind)}  ${oneLine(subject)}  ${facts.join(' ')}\n`
}
