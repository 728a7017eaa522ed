import { useSyncExternalStore } from 'react'
import type { EventView } from '../../src/features/events/schema.ts'
import { onEvent } from './live.ts'

/** What a run has said on its way, before it has ended. */
export interface Said {
  readonly text: string
  /** Words of another attempt begin anew. */
  readonly attempt: number | null
  /** False when the output began before the page was listening: then the beginning is missing. */
  readonly isWhole: boolean
}

const MOST_RUNS = 50
const MOST_TEXT = 200_000

let said: ReadonlyMap<string, Said> = new Map()
/** Runs whose attempt began while the page was listening, so their output is complete. */
const begun = new Set<string>()
const hearers = new Set<() => void>()

/** What is said by then, after an event: the pieces of an answer are put together, everything else is a line of JSON. */
export function heard(known: Said | undefined, { data }: Pick<EventView, 'data'>, isWhole: boolean): Said {
  const attempt = typeof data['attempt'] === 'number' ? data['attempt'] : null
  const goesOn = known !== undefined && known.attempt === attempt
  const output: readonly unknown[] = Array.isArray(data['output']) ? data['output'] : [data['output']]
  const words = output.map((piece) => (typeof piece === 'string' ? piece : `\n${JSON.stringify(piece)}\n`)).join('')
  return {
    ...{ attempt, isWhole: goesOn ? known.isWhole : isWhole },
    text: ((goesOn ? known.text : '') + words).slice(-MOST_TEXT),
  }
}

function hear(event: EventView): void {
  const { kind, subject } = event
  if (kind === 'run.changed' && event.data['status'] === 'running') begun.add(subject)
  if (kind !== 'run.output') return
  const kept = [...said].filter(([id]) => id !== subject).slice(1 - MOST_RUNS)
  said = new Map([...kept, [subject, heard(said.get(subject), event, begun.has(subject))]])
  for (const each of hearers) each()
}

onEvent(hear)

function subscribe(each: () => void): () => void {
  hearers.add(each)
  return () => void hearers.delete(each)
}

/** What a run says as it says it; undefined when nothing has been heard of it. */
export const useStream = (runId: string): Said | undefined => useSyncExternalStore(subscribe, () => said.get(runId))
