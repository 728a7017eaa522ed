import type { RunView } from '../../src/features/runs/schema.ts'
import { useSay } from '../texts/TextProvider.tsx'
import { CATALOGUE, type TextKey } from '../texts/catalogue.ts'

/** Why something was decided, in plain words with its facts filled in; a reason without words is told by its code. */
export function useReasonText(): (why: RunView['decision']) => string {
  const say = useSay()
  return ({ reason, evidence }) => {
    const key = `reason.${reason}`
    if (!isKey(key)) return reason
    const facts = Object.fromEntries(Object.entries(evidence).map(([name, fact]) => [name, String(fact ?? '?')]))
    return (say as (key: TextKey, values: Readonly<Record<string, string>>) => string)(key, facts)
  }
}

const isKey = (key: string): key is TextKey => key in CATALOGUE.en
