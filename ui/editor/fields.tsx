import { NumberInput, Select, Textarea, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import type { PlainKey } from '../texts/fill.ts'
import { useSay } from '../texts/TextProvider.tsx'
import { useEditor } from './context.ts'
import type { ScheduleForm } from './form/form.ts'
import type { Num } from './form/num.ts'

type NamesOf<Value> = {
  [Name in keyof ScheduleForm]: ScheduleForm[Name] extends Value ? Name : never
}[keyof ScheduleForm]

interface FieldProps<Name> {
  readonly name: Name
  readonly named: PlainKey
  readonly hint?: PlainKey | undefined
  readonly example?: PlainKey | undefined
  /** The names under which the server knows it, where they differ. */
  readonly knownAs?: readonly string[]
}

function useField<Name extends keyof ScheduleForm>({ name, named, hint, example, knownAs }: FieldProps<Name>) {
  const say = useSay()
  const { form, set, errorOf } = useEditor()
  return {
    set: (value: ScheduleForm[Name]) => set({ [name]: value }),
    props: {
      ...{ label: say(named), value: form[name], 'data-field': name },
      ...(hint === undefined ? {} : { description: say(hint) }),
      ...(example === undefined ? {} : { placeholder: say(example) }),
      error: errorOf(...(knownAs ?? [name])),
    },
  }
}

interface TextFieldProps extends FieldProps<NamesOf<string>> {
  readonly type?: 'text' | 'datetime-local'
  readonly isCode?: boolean
  readonly isFirst?: boolean
}

/** A line of text. */
export function TextField({ type = 'text', isCode = false, isFirst = false, ...field }: TextFieldProps): ReactNode {
  const { props, set } = useField(field)
  return (
    <TextInput
      {...{ ...props, type, step: 1, autoComplete: 'off', spellCheck: !isCode }}
      {...(isCode ? { classNames: { input: 'code-input' } } : {})}
      {...(isFirst ? { 'data-autofocus': true } : {})}
      onChange={(event) => set(event.currentTarget.value)}
    />
  )
}

interface TextBoxProps extends FieldProps<NamesOf<string>> {
  readonly rows: number
  readonly isCode?: boolean
}

/** Several lines of text. */
export function TextBox({ rows, isCode = false, ...field }: TextBoxProps): ReactNode {
  const { props, set } = useField(field)
  return (
    <Textarea
      {...{ ...props, autosize: true, minRows: rows, maxRows: 16, spellCheck: !isCode }}
      {...(isCode ? { classNames: { input: 'code-input' } } : {})}
      onChange={(event) => set(event.currentTarget.value)}
    />
  )
}

interface NumberFieldProps extends FieldProps<NamesOf<Num>> {
  readonly min?: number
  readonly max?: number
  readonly isWhole?: boolean
}

/** A number, or nothing. */
export function NumberField({ min = 0, max, isWhole = true, ...field }: NumberFieldProps): ReactNode {
  const { props, set } = useField(field)
  return (
    <NumberInput
      {...{ ...props, min, allowDecimal: !isWhole, clampBehavior: 'none' }}
      {...(max === undefined ? {} : { max })}
      onChange={(value) => set(typeof value === 'number' ? value : '')}
    />
  )
}

interface ChoiceFieldProps extends FieldProps<NamesOf<string>> {
  readonly choices: readonly (readonly [value: string, label: PlainKey])[]
}

/** One of a few words. */
export function ChoiceField({ choices, ...field }: ChoiceFieldProps): ReactNode {
  const say = useSay()
  const { props, set } = useField(field)
  return (
    <Select
      {...{ ...props, allowDeselect: false }}
      data={choices.map(([value, label]) => ({ value, label: say(label) }))}
      onChange={(value) => set(value ?? '')}
    />
  )
}
