import type { ReactNode } from 'react'
import type { ExplainNext } from '../../../src/features/explain/schema.ts'
import { CATALOGUE } from '../../texts/catalogue.ts'
import type { PlainKey } from '../../texts/fill.ts'
import { useSay } from '../../texts/TextProvider.tsx'
import { Time } from '../../time/Time.tsx'
import './explain.css'

/** What follows by itself, and what can be done, with the command that does it. */
export function Next({ next }: { readonly next: ExplainNext }): ReactNode {
  const say = useSay()
  const nameOf = (action: string, otherwise: string): string => {
    const key = `explain.can.${action}`
    return key in CATALOGUE.en ? say(key as PlainKey) : otherwise
  }
  return (
    <div className="nexts">
      <p>{withTimes(next.sentence)}</p>
      {next.actions.length > 0 && (
        <ul>
          {next.actions.map(({ action, sentence, command }) => (
            <li key={command}>
              {nameOf(action, sentence)} <code aria-label={say('explain.command')}>{command}</code>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

const MOMENT = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/

/** The times in a sentence as people read them. Every other part is one. */
const withTimes = (sentence: string): ReactNode =>
  sentence.split(MOMENT).map((part, index) => (index % 2 === 0 ? part : <Time key={index} at={part} show="short" />))
