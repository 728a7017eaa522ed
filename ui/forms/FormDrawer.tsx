import { Alert, Button, Drawer } from '@mantine/core'
import { useMutation, useQueryClient, type QueryKey } from '@tanstack/react-query'
import { useState, type KeyboardEvent, type ReactNode, type SyntheticEvent } from 'react'
import { fieldErrorsOf, messageOf } from '../api/refusal.ts'
import { toast } from '../parts/toasts/toast-store.ts'
import { useSay } from '../texts/TextProvider.tsx'
import { Field } from './Field.tsx'
import { useReturnFocus } from './use-return-focus.ts'
import { useForm, type FieldsOf, type Form } from './use-form.ts'
import './forms.css'

type Body = Readonly<Record<string, unknown>>

interface FormDrawerProps<Answer> {
  readonly title: string
  readonly lead?: ReactNode
  readonly fields: FieldsOf
  /** What the fields begin with. */
  readonly thing: unknown
  readonly save: (body: Body) => Promise<Answer>
  /** What it is told to have done. */
  readonly saved: string
  /** What is read anew afterwards. */
  readonly touches: readonly QueryKey[]
  readonly close: () => void
  /** What comes after it instead of closing: the text of a new key is shown. */
  readonly then?: (answer: Answer) => void
  readonly submit?: string
  /** What can be done at once about what the server refused; `again` sends the form anew. */
  readonly remedy?: (error: unknown, again: () => void) => ReactNode
  /** Below the fields: facts about the thing. */
  readonly children?: ReactNode
}

/** A drawer with a form. Nothing is lost when the server refuses: what is wrong is shown where it is. */
export function FormDrawer<Answer>(props: FormDrawerProps<Answer>): ReactNode {
  const { title, lead, fields, thing, save, saved, touches, close, then = close, submit, remedy, children } = props
  const say = useSay()
  useReturnFocus()
  const queryClient = useQueryClient()
  const saving = useMutation({
    mutationFn: save,
    // What was typed may be a secret: it is forgotten with the form.
    gcTime: 0,
    onSuccess: (answer) => {
      for (const queryKey of touches) void queryClient.invalidateQueries({ queryKey })
      toast({ tone: 'done', message: saved })
      then(answer)
    },
  })
  const form = useForm(fields, thing, saving.error)
  const submitForm = (): void => {
    const body = form.read()
    if (body !== null && !saving.isPending) saving.mutate(body)
  }
  const onSubmit = (event: SyntheticEvent): void => {
    event.preventDefault()
    submitForm()
  }
  return (
    <Drawer
      {...{ opened: true, onClose: close, title, position: 'right', size: 520 }}
      closeButtonProps={{ 'aria-label': say('action.close') }}
    >
      <form className="form" onSubmit={onSubmit} onKeyDown={saveByKey(submitForm)} noValidate>
        {lead !== undefined && <div className="form-lead">{lead}</div>}
        <Fields form={form} specs={form.specs.filter(({ isFolded }) => isFolded !== true)} />
        <Folded form={form} />
        <Refused error={saving.error} form={form} />
        {saving.error !== null && remedy?.(saving.error, submitForm)}
        <div className="form-actions">
          <Button variant="default" onClick={close}>
            {say('action.cancel')}
          </Button>
          <Button type="submit" loading={saving.isPending}>
            {submit ?? say('form.save')}
          </Button>
        </div>
      </form>
      {children}
    </Drawer>
  )
}

/** Ctrl+S and Cmd+S save, as in the editor of schedules. */
const saveByKey =
  (save: () => void) =>
  (event: KeyboardEvent): void => {
    if (event.key.toLowerCase() !== 's' || !(event.ctrlKey || event.metaKey) || event.altKey) return
    event.preventDefault()
    save()
  }

function Fields({ form, specs }: { readonly form: Form; readonly specs: Form['specs'] }): ReactNode {
  return specs.map((spec) => (
    <Field
      key={spec.path}
      {...{ spec, value: form.valueOf(spec), error: form.errorOf(spec.path) }}
      set={(value) => form.set(spec.path, value)}
    />
  ))
}

/** The fields that few need, behind one line; it opens by itself when one of them is wrong. */
function Folded({ form }: { readonly form: Form }): ReactNode {
  const say = useSay()
  const [isOpen, setOpen] = useState(false)
  const specs = form.specs.filter(({ isFolded }) => isFolded === true)
  if (specs.length === 0) return null
  const isWrong = specs.some(({ path }) => form.errorOf(path) !== undefined)
  return (
    <details className="form-more" open={isOpen || isWrong} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{say('form.more', { count: specs.length })}</summary>
      <div className="form">{(isOpen || isWrong) && <Fields form={form} specs={specs} />}</div>
    </details>
  )
}

/** What the server refused and no field shows. */
function Refused({ error, form }: { readonly error: unknown; readonly form: Form }): ReactNode {
  const say = useSay()
  if (error === null) return null
  const fields = Object.keys(fieldErrorsOf(error))
  const shown = fields.filter((name) => form.specs.some(({ path }) => name === path || name.startsWith(`${path}.`)))
  if (fields.length > 0 && shown.length === fields.length) return null
  return (
    <Alert color="red" role="alert">
      {messageOf(error, say)}
    </Alert>
  )
}
