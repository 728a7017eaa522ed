import { EscapementError } from '../../client/errors.ts'
import { manyLines } from '../output/text.ts'
import type { Talk } from '../remote/talk.ts'

/** Shows what the runs of a conversation say while they say it. */
export interface LiveWords {
  /** What was shown of a run's last attempt; from now on nothing more of it is. */
  readonly shownOf: (runId: string) => string
  readonly end: () => Promise<void>
}

/**
 * Listens to a conversation. `before` makes room for what a run says first. Whoever may not listen is shown answers when
 * they are whole.
 */
export function showLive(talk: Talk, { key, before }: { readonly key: string; readonly before: string }): LiveWords {
  const over = new AbortController()
  const shown = new Map<string, { readonly attempt: unknown; readonly text: string }>()
  const answered = new Set<string>()
  const listen = async (): Promise<void> => {
    const stream = talk.client.events({ session: key, kinds: ['run.output'] }, { signal: over.signal })
    for await (const event of stream) {
      const words = event.kind === 'run.output' ? wordsIn(event.data) : ''
      if (event.kind !== 'run.output' || words === '' || answered.has(event.subject)) continue
      const { attempt } = event.data
      const known = shown.get(event.subject)
      const goesOn = known !== undefined && known.attempt === attempt
      shown.set(event.subject, { attempt, text: goesOn ? known.text + words : words })
      // What an attempt has said that failed stays where it is; the next one begins on a line of its own.
      const room = known === undefined ? before : goesOn ? '' : '\n'
      await talk.print(room + manyLines(words))
    }
  }
  const listening = listen().catch((error: unknown) => {
    if (!(error instanceof EscapementError)) throw error
  })
  return {
    shownOf: (runId) => {
      answered.add(runId)
      return shown.get(runId)?.text ?? ''
    },
    end: () => {
      over.abort()
      return listening
    },
  }
}

/** What is no text is not said to anybody. */
function wordsIn({ output }: Readonly<Record<string, unknown>>): string {
  return Array.isArray(output) ? output.filter((piece) => typeof piece === 'string').join('') : ''
}
