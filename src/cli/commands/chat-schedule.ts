import { EscapementError } from '../../client/errors.ts'
import { oneLine } from '../output/text.ts'
import { refusedText } from '../remote/refused.ts'
import { printJsonLine } from '../remote/show.ts'
import type { Talk } from '../remote/talk.ts'
import { UsageError } from '../remote/usage.ts'
import { chosenRun, compose, make } from './schedule-of-run.ts'
import { showComposed, type Composed } from './schedule-of-run-look.ts'

/** The schedule that was last shown in a conversation and not made; null: there is none. */
export interface Proposed {
  of: Composed | null
}

const COMMAND = /^\/schedule(?:\s+(?<said>[^]*))?$/i
const YES = /^(?:--yes|yes|y)$/i

/** Whether something typed in a conversation is about a schedule. */
export const makesSchedule = (text: string): boolean => COMMAND.test(text)

interface InChat {
  readonly key: string
  /** What makes room for an answer. */
  readonly before: string
  readonly proposed: Proposed
}

const NEXT = {
  untimed: 'Nobody has said when, and nobody guesses: /schedule every weekday at 9 in Berlin',
  then: 'Nothing was made yet: /schedule yes makes it.',
}

/**
 * `/schedule [when]` shows what the last good answer would be as a schedule, `/schedule yes` makes it. Nothing is made
 * that was not shown. True unless it went wrong.
 */
export async function scheduleInChat(talk: Talk, { key, before, proposed }: InChat, text: string): Promise<boolean> {
  const said = COMMAND.exec(text)?.groups?.['said']?.trim() ?? ''
  try {
    if (YES.test(said)) {
      await talk.print(before)
      return await makeShown(talk, proposed)
    }
    const choices = said === '' ? {} : { when: said }
    const composed = await compose(talk, await chosenRun(talk, key), { choices, given: {} })
    proposed.of = composed.preview === null ? null : composed
    if (talk.json) await printJsonLine(talk, composed)
    else {
      await talk.print(before)
      await showComposed(talk, composed, proposed.of === null ? { ...NEXT, then: '' } : NEXT)
    }
    return true
  } catch (error) {
    const names = { '/when': '/schedule' }
    if (error instanceof EscapementError) await talk.print(before + refusedText(error, names, talk.style))
    else if (error instanceof UsageError) await talk.print(`${before}${error.message}\n`)
    else throw error
    return false
  }
}

async function makeShown(talk: Talk, proposed: Proposed): Promise<boolean> {
  if (proposed.of === null)
    throw new UsageError('Nothing was shown that could be made: /schedule every weekday at 9 in Berlin')
  const made = await make(talk, proposed.of)
  proposed.of = null
  if (talk.json) await printJsonLine(talk, made)
  else await talk.print(`${made.id} is made: ${oneLine(made.sentence)}. Next run: ${made.next_run_at ?? 'never'}.\n`)
  return true
}
