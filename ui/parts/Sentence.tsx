import type { ReactNode } from 'react'
import type { RunView } from '../../src/features/runs/schema.ts'
import { CATALOGUE, type TextKey } from '../texts/catalogue.ts'
import { useSay } from '../texts/TextProvider.tsx'
import { Fact } from './Fact.tsx'

const HOLE = /\{(\w+)\}/

/** Why something was decided, as a sentence whose runs are doors and whose moments tell their zone. */
export function Sentence({ why }: { readonly why: RunView['decision'] }): ReactNode {
  const say = useSay()
  const key = `reason.${why.reason}`
  if (!isKey(key)) return <code>{why.reason}</code>
  // Said without anything to fill in, the holes stay: they are filled with more than words.
  const parts = (say as (key: TextKey, values: object) => string)(key, {}).split(HOLE)
  return parts.map((part, index) =>
    // Every other part is the name of a hole; a sentence does not change, so places are good enough as keys.
    index % 2 === 0 ? part : <Fact key={index} value={why.evidence[part] ?? null} />,
  )
}

const isKey = (key: string): key is TextKey => key in CATALOGUE.en
