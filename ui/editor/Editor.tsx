import { Button, Modal, Switch } from '@mantine/core'
import { useBlocker } from '@tanstack/react-router'
import { useEffect, useRef, type ReactNode } from 'react'
import type { ScheduleProposal } from '../../src/features/schedules/views-schema.ts'
import type { ScheduleView } from '../../src/features/schedules/schema.ts'
import { messageOf } from '../api/refusal.ts'
import { Permitted } from '../parts/Permitted.tsx'
import type { Say } from '../texts/fill.ts'
import { useSay } from '../texts/TextProvider.tsx'
import { AfterSection } from './AfterSection.tsx'
import { AskSection } from './AskSection.tsx'
import { Conflict } from './Conflict.tsx'
import { EditorContext, useEditor, type EditorState } from './context.ts'
import type { ScheduleForm } from './form/form.ts'
import { FromRun } from './FromRun.tsx'
import { payloadInput } from './form/input-of.ts'
import { CollisionSection, TroubleSection } from './PolicySections.tsx'
import { PreviewPane } from './PreviewPane.tsx'
import { aboutFields, unsaidField } from './form/unsaid.ts'
import { isStale, useEditorForm } from './hooks/use-editor-form.ts'
import { usePreview } from './hooks/use-preview.ts'
import { WhatSection } from './WhatSection.tsx'
import { WhenSection } from './WhenSection.tsx'

interface EditorProps {
  readonly start: ScheduleForm
  /** The schedule that is changed; null for a new one. */
  readonly schedule: ScheduleView | null
  /** The conversation that a new one is made of; null: of none. */
  readonly proposal: ScheduleProposal | null
  readonly saved: (schedule: ScheduleView) => void
  readonly close: () => void
}

/** The form on the left, what it would do on the right, and saving below. */
export function Editor(props: EditorProps): ReactNode {
  const say = useSay()
  const { proposal } = props
  const begun = { ...props, fromRun: proposal?.run_id ?? null }
  const { form, set, save, isChanged, refused, theirs } = useEditorForm(begun)
  const preview = usePreview(form)
  const local = isJson(form) ? {} : { payload: say('edit.payload.noJson') }
  const unsaid = unsaidField(form, refused)
  const flaws: Readonly<Record<string, string>> = {
    ...{ ...aboutFields(refused, form), ...preview.flaws, ...local },
    ...(unsaid === null ? {} : { [unsaid]: say('edit.when.missing') }),
  }
  const state: EditorState = {
    ...{ form, set },
    errorOf: (...fields) => fields.flatMap((field) => flaws[field] ?? [])[0],
    isWrongIn: (fields) =>
      Object.keys(flaws).some((flaw) => fields.some((field) => flaw === field || flaw.startsWith(`${field}.`))),
  }
  const submit = (): void => {
    if (Object.keys(local).length === 0 && !save.isPending) save.mutate()
  }
  const place = useFirstFlaw(refused)
  return (
    <EditorContext value={state}>
      <form
        {...{ ref: place, className: 'editor', noValidate: true }}
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
        onKeyDown={(event) => {
          if (!(event.metaKey || event.ctrlKey) || (event.key !== 's' && event.key !== 'Enter')) return
          event.preventDefault()
          submit()
        }}
      >
        <Conflict differences={theirs} />
        <div className="editor-columns">
          <div className="editor-form">
            {proposal !== null && <FromRun proposal={proposal} />}
            <WhatSection />
            <WhenSection />
            <AskSection scheduleId={props.schedule?.id ?? null} />
            <CollisionSection />
            <TroubleSection />
            <AfterSection />
          </div>
          <PreviewPane preview={preview} scheduleId={props.schedule?.id ?? null} />
        </div>
        <Footer
          {...{ close: props.close, isPending: save.isPending, isNew: props.schedule === null }}
          error={unsaid === null ? errorText(save.error, say) : say('edit.when.missing')}
        />
      </form>
      <Leaving isChanged={isChanged && !save.isSuccess} />
    </EditorContext>
  )
}

const errorText = (error: unknown, say: Say): string | null =>
  error === null || isStale(error) ? null : messageOf(error, say)

function isJson(form: ScheduleForm): boolean {
  try {
    payloadInput(form)
    return true
  } catch {
    return false
  }
}

/** Brings the first field that was refused into view, and the cursor into it. */
function useFirstFlaw(refused: Readonly<Record<string, string>>) {
  const place = useRef<HTMLFormElement>(null)
  useEffect(() => {
    if (Object.keys(refused).length === 0) return
    const wrong = place.current?.querySelector<HTMLElement>(':is(input, textarea)[aria-invalid="true"]')
    wrong?.focus()
    wrong?.scrollIntoView({ block: 'center' })
  }, [refused])
  return place
}

interface FooterProps {
  readonly close: () => void
  readonly error: string | null
  readonly isPending: boolean
  readonly isNew: boolean
}

function Footer({ close, error, isPending, isNew }: FooterProps): ReactNode {
  const say = useSay()
  return (
    <footer className="editor-foot">
      {isNew && <EnabledSwitch />}
      <div className="editor-error" role="alert">
        {error}
      </div>
      <Button variant="default" onClick={close}>
        {say('action.cancel')}
      </Button>
      <Permitted permission="schedules:write">
        <Button type="submit" loading={isPending}>
          {say(isNew ? 'edit.create' : 'edit.save')}
        </Button>
      </Permitted>
    </footer>
  )
}

function EnabledSwitch(): ReactNode {
  const say = useSay()
  const { form, set } = useEditor()
  return (
    <Switch
      {...{ checked: form.enabled, size: 'xs', label: say('edit.enabled') }}
      onChange={(event) => set({ enabled: event.currentTarget.checked })}
    />
  )
}

/** Asks before edits are lost, however one leaves: closing, going back, closing the window. */
function Leaving({ isChanged }: { readonly isChanged: boolean }): ReactNode {
  const say = useSay()
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: () => isChanged,
    enableBeforeUnload: isChanged,
    withResolver: true,
  })
  return (
    <Modal
      {...{ opened: status === 'blocked', onClose: () => reset?.(), title: say('edit.leave.title'), zIndex: 300 }}
      // The Escape that closes the drawer would reach this question too, and answer it.
      closeOnEscape={false}
      closeButtonProps={{ 'aria-label': say('action.close') }}
    >
      <p>{say('edit.leave.text')}</p>
      <div className="modal-foot">
        <Button variant="default" onClick={() => reset?.()} data-autofocus>
          {say('edit.leave.stay')}
        </Button>
        <Button color="red" onClick={() => proceed?.()}>
          {say('edit.leave.go')}
        </Button>
      </div>
    </Modal>
  )
}
