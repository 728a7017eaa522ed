import { Drawer } from '@mantine/core'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { ScheduleProposal } from '../../src/features/schedules/views-schema.ts'
import type { ScheduleView } from '../../src/features/schedules/schema.ts'
import { api } from '../api/client.ts'
import { scheduleOf } from '../api/queries.ts'
import { ErrorState } from '../parts/ErrorState.tsx'
import { Lines } from '../parts/Lines.tsx'
import { toast } from '../parts/toasts/toast-store.ts'
import { useSay } from '../texts/TextProvider.tsx'
import { OWN_ZONE } from '../time/zone.ts'
import { Editor } from './Editor.tsx'
import type { EditorSearch } from './form/editor-search.ts'
import { formOfDraft } from './form/draft-form.ts'
import { formOf, formOfCopy } from './form/form-of.ts'
import { EMPTY, type ScheduleForm } from './form/form.ts'
import { useCloseEditor } from './hooks/use-editor.ts'
import { useReturnFocus } from '../forms/use-return-focus.ts'
import './editor.css'

/** Where a schedule is made or changed, above whatever page one is on. */
export function EditorDrawer({ search }: { readonly search: EditorSearch }): ReactNode {
  const say = useSay()
  const close = useCloseEditor()
  useReturnFocus()
  const { id, schedule, start, proposal, error, retry } = useBeginning(search)
  const saved = useSaved(id === undefined)
  return (
    <Drawer
      {...{ opened: true, onClose: () => void close(false), position: 'right', size: 1080, padding: 0 }}
      title={id === undefined ? say('edit.new') : say('edit.title', { name: schedule?.name ?? '' })}
      closeButtonProps={{ 'aria-label': say('action.close') }}
      classNames={{ content: 'editor-drawer', body: 'editor-body', header: 'editor-head' }}
    >
      {start !== undefined ? (
        <Editor
          key={JSON.stringify(search)}
          {...{ start, proposal, schedule: schedule ?? null, saved, close: () => void close(false) }}
        />
      ) : error === null ? (
        <Lines count={10} height={28} />
      ) : (
        <ErrorState error={error} retry={retry} />
      )}
    </Drawer>
  )
}

/** What an editor begins with; `start` is undefined while it is read. */
interface Beginning {
  /** The schedule that is changed; undefined for a new one. */
  readonly id: string | undefined
  readonly schedule: ScheduleView | undefined
  readonly start: ScheduleForm | undefined
  /** The conversation that a new one is made of. */
  readonly proposal: ScheduleProposal | null
  readonly error: unknown
  readonly retry: () => void
}

const draftOf = (runId: string) =>
  queryOptions({
    queryKey: ['drafts', 'schedule', runId],
    queryFn: ({ signal }) => api.runs.proposal(runId, { signal }),
    staleTime: Infinity,
  })

function useBeginning({ edit, draft, copy }: EditorSearch): Beginning {
  const say = useSay()
  const id = edit === 'new' ? undefined : edit
  const wanted = id ?? copy
  const one = useQuery({ ...scheduleOf(wanted ?? ''), enabled: wanted !== undefined })
  const run = useQuery({ ...draftOf(draft ?? ''), enabled: wanted === undefined && draft !== undefined })
  const start = (): ScheduleForm | undefined => {
    if (wanted !== undefined && one.data === undefined) return undefined
    if (one.data !== undefined && id !== undefined) return formOf(one.data)
    if (one.data !== undefined) return formOfCopy(one.data, say('edit.copyOf', { name: one.data.name }))
    if (draft !== undefined) return run.data === undefined ? undefined : formOfDraft(run.data.draft)
    return { ...EMPTY, timezone: OWN_ZONE }
  }
  return {
    ...{ id, start: start(), schedule: id === undefined ? undefined : one.data, error: one.error ?? run.error },
    proposal: wanted === undefined && draft !== undefined ? (run.data ?? null) : null,
    retry: () => void (wanted === undefined ? run.refetch() : one.refetch()),
  }
}

/** A new schedule is shown on its own page; a changed one where one was. */
function useSaved(isNew: boolean): (schedule: ScheduleView) => void {
  const say = useSay()
  const close = useCloseEditor()
  const navigate = useNavigate()
  return ({ id, name }) => {
    toast({ tone: 'done', message: say(isNew ? 'edit.created' : 'edit.saved', { name }) })
    if (isNew) void navigate({ to: '/automation/schedules/$id', params: { id }, search: {}, ignoreBlocker: true })
    else void close(true)
  }
}
