import type { AgentView } from '../../../src/features/agents/schema.ts'
import { EXECUTORS } from '../../../src/executors/kinds.ts'
import type { OptionField } from '../../../src/executors/kind.ts'
import type { Choice, FieldSpec } from '../../forms/field.ts'

/** The ways in which work is performed; `echo`, which is for trying things, comes last. */
export const KINDS: readonly Choice[] = EXECUTORS.map(({ kind, console }) => ({
  value: kind,
  label: console.name,
})).toReversed()

const specOf = (kind: unknown) => EXECUTORS.find((spec) => spec.kind === kind)

const fieldOf = ({ name, input, choices, usual: _, ...rest }: OptionField): FieldSpec => ({
  ...rest,
  ...{ path: `executor.${name}`, kind: input },
  ...(choices === undefined ? {} : { choices: choices.map((value) => ({ value })) }),
})

/** The fields of a kind; one that is not known has none. */
export const executorFields = (kind: unknown): readonly FieldSpec[] => specOf(kind)?.console.fields.map(fieldOf) ?? []

/** What a new agent of a kind begins with. */
export const usualOf = (kind: string): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    (specOf(kind)?.console.fields ?? []).flatMap(({ name, usual }) => (usual === undefined ? [] : [[name, usual]])),
  )

/** Where an agent does its work, in a few letters: an address, a model, a program. */
export function placeOf({ executor }: Pick<AgentView, 'executor'>): string | null {
  const place = specOf(executor.kind)?.console.place
  const found = place === undefined ? null : Object.entries(executor).find(([name]) => name === place)?.[1]
  return typeof found === 'string' ? found.replace(/^https?:\/\//, '') : null
}
