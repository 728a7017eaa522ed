import { NumberInput, PasswordInput, Select, Switch, Textarea, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { useTexts } from '../texts/TextProvider.tsx'
import type { FieldSpec, FormValue, Label } from './field.ts'

interface FieldProps {
  readonly spec: FieldSpec
  readonly value: FormValue
  readonly set: (value: FormValue) => void
  readonly error: string | undefined
}

const AREAS: Partial<Record<FieldSpec['kind'], number>> = { area: 4, list: 2, pairs: 2, json: 3 }
const CODES: readonly FieldSpec['kind'][] = ['code', 'list', 'pairs', 'json']

function useLabels(): (label: Label) => string {
  const { say, language } = useTexts()
  return (label) => (typeof label === 'string' ? say(label) : label[language])
}

/** One field of a form, as its kind demands. */
export function Field({ spec, value, set, error }: FieldProps): ReactNode {
  const say = useLabels()
  const { kind, path, label, hint, example, isFixed = false, isRequired = false } = spec
  const text = typeof value === 'string' ? value : ''
  const props = {
    ...{ label: say(label), 'data-field': path, disabled: isFixed, error, autoComplete: 'off' },
    ...(hint === undefined ? {} : { description: say(hint) }),
    ...(example === undefined ? {} : { placeholder: example }),
    ...(isRequired ? { withAsterisk: true, 'aria-required': true } : {}),
    ...(CODES.includes(kind) ? { classNames: { input: 'code-text' }, spellCheck: false } : {}),
  }
  const minRows = AREAS[kind]
  if (kind === 'flag') return <Flag {...{ spec, value, set, error }} />
  if (kind === 'choice') return <ChoiceOf {...{ spec, text, set, props }} />
  if (kind === 'number')
    return (
      <NumberInput {...props} value={text} onChange={(typed) => set(String(typed))} clampBehavior="none" hideControls />
    )
  if (kind === 'secret')
    return (
      <PasswordInput
        {...{ ...props, autoComplete: 'new-password', value: text }}
        onChange={(event) => set(event.currentTarget.value)}
      />
    )
  if (minRows !== undefined)
    return (
      <Textarea
        {...{ ...props, value: text, autosize: true, minRows, maxRows: 14 }}
        onChange={(event) => set(event.currentTarget.value)}
      />
    )
  const type = kind === 'moment' ? 'datetime-local' : 'text'
  return <TextInput {...{ ...props, type, value: text }} onChange={(event) => set(event.currentTarget.value)} />
}

function Flag({ spec, value, set, error }: FieldProps): ReactNode {
  const say = useLabels()
  return (
    <Switch
      {...{ label: say(spec.label), 'data-field': spec.path, checked: value === true, error, size: 'xs' }}
      {...(spec.hint === undefined ? {} : { description: say(spec.hint) })}
      onChange={(event) => set(event.currentTarget.checked)}
    />
  )
}

interface ChoiceProps {
  readonly spec: FieldSpec
  readonly text: string
  readonly set: (value: string) => void
  readonly props: Readonly<Record<string, unknown>>
}

function ChoiceOf({ spec, text, set, props }: ChoiceProps): ReactNode {
  const say = useLabels()
  const { choices = [], isRequired = false } = spec
  return (
    <Select
      {...{ ...props, value: text === '' ? null : text, allowDeselect: !isRequired, clearable: !isRequired }}
      {...{ searchable: choices.length > 8 }}
      data={choices.map(({ value, label, name }) => ({
        value,
        label: label === undefined ? (name ?? value) : say(label),
      }))}
      onChange={(chosen) => set(chosen ?? '')}
    />
  )
}
