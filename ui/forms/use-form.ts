import { useState } from 'react'
import { fieldErrorsOf } from '../api/refusal.ts'
import { useSay } from '../texts/TextProvider.tsx'
import { readForm, typedOf, type FieldSpec, type Flaws, type FormValue, type FormValues } from './field.ts'

/** Which fields there are may depend on what is typed: every kind of executor has its own. */
export type FieldsOf = (values: FormValues) => readonly FieldSpec[]

/** A form that is being filled in. */
export interface Form {
  readonly specs: readonly FieldSpec[]
  readonly valueOf: (spec: FieldSpec) => FormValue
  readonly set: (path: string, value: FormValue) => void
  readonly errorOf: (path: string) => string | undefined
  /** What is to be sent; null when something is wrong, which is then shown at its field. */
  readonly read: () => Readonly<Record<string, unknown>> | null
  readonly values: FormValues
}

/** Fills in a form that begins with a thing. What the server refuses lands on the field it is about. */
export function useForm(fieldsOf: FieldsOf, thing: unknown, error: unknown): Form {
  const say = useSay()
  const [typed, setTyped] = useState<FormValues>({})
  const [flaws, setFlaws] = useState<Flaws>({})
  const values = withFirst(fieldsOf, typed, thing)
  const specs = fieldsOf(values)
  const refused = fieldErrorsOf(error)
  return {
    ...{ specs, values },
    valueOf: (spec) => values[spec.path] ?? '',
    set: (path, value) => {
      setTyped({ ...typed, [path]: value })
      setFlaws(Object.fromEntries(Object.entries(flaws).filter(([name]) => name !== path)))
    },
    errorOf: (path) => {
      const flaw = flaws[path]
      if (flaw !== undefined) return say(flaw)
      // What is wrong inside of a list or an object is told at the field that holds it.
      const inside = Object.keys(refused).find((name) => name === path || name.startsWith(`${path}.`))
      return inside === undefined ? undefined : refused[inside]
    },
    read: () => {
      const { body, flaws: found } = readForm(specs, values)
      setFlaws(found)
      return Object.keys(found).length === 0 ? body : null
    },
  }
}

/** What stands in every field: what was typed, else what the thing has. Twice, because fields may depend on a field. */
function withFirst(fieldsOf: FieldsOf, typed: FormValues, thing: unknown): FormValues {
  let values = typed
  for (let round = 0; round < 2; round += 1)
    for (const spec of fieldsOf(values))
      if (!(spec.path in values)) values = { ...values, [spec.path]: typedOf(spec, thing) }
  return values
}
