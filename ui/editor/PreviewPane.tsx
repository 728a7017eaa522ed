import { IconClockEdit } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import type { DstNoteView, SchedulePreview } from '../../src/features/schedules/views-schema.ts'
import { messageOf } from '../api/refusal.ts'
import { useSay } from '../texts/TextProvider.tsx'
import { useNow } from '../time/clock.ts'
import { Time } from '../time/Time.tsx'
import { offsetName } from '../time/wall.ts'
import { OWN_ZONE } from '../time/zone.ts'
import { useEditor } from './context.ts'
import { CostEstimate } from './CostEstimate.tsx'
import { DayRibbon } from './DayRibbon.tsx'
import type { Preview } from './hooks/use-preview.ts'

const MINUTE = 60_000

interface PreviewProps {
  readonly preview: Preview
  /** Null: it is new. */
  readonly scheduleId: string | null
}

/** What the schedule would do: one sentence, its next times in its zone, and its first day with the chosen policies. */
export function PreviewPane({ preview, scheduleId }: PreviewProps): ReactNode {
  const say = useSay()
  const { view, day, error, isOld } = preview
  return (
    <aside className="edit-preview" aria-label={say('edit.preview')}>
      <h3>{say('edit.preview')}</h3>
      <p className="preview-sentence" data-old={isOld} aria-live="polite">
        {view?.sentence ?? (error === null ? say('edit.preview.empty') : messageOf(error, say))}
      </p>
      {view !== undefined && (
        <>
          <Times next={view.next} notes={view.dst_notes} coming={view.coming} />
          <DayRibbon occurrences={day} />
          <CostEstimate scheduleId={scheduleId} />
        </>
      )}
    </aside>
  )
}

interface TimesProps {
  readonly next: readonly string[]
  readonly notes: readonly DstNoteView[]
  /** How sure each of them is, where that differs. */
  readonly coming: SchedulePreview['coming']
}

/** The next times. A change of the clock stands between the two that it falls between. */
function Times({ next, notes, coming }: TimesProps): ReactNode {
  const say = useSay()
  const { form } = useEditor()
  const zone = form.timezone
  const now = useNow(MINUTE)
  if (next.length === 0) return <p className="edit-note">{say('edit.preview.never')}</p>
  const own = OWN_ZONE === zone ? '' : say('edit.preview.own', { zone: OWN_ZONE, offset: offsetName(now, OWN_ZONE) })
  return (
    <>
      <div className="preview-zone quiet">
        {say('edit.preview.zone', { zone: zone.replaceAll('_', ' '), offset: offsetName(now, zone) })} {own}
      </div>
      <ol className="preview-times" aria-label={say('edit.preview.next')}>
        {next.map((at, index) => (
          <li key={at}>
            {notesBetween(notes, next[index - 1], at).map((note) => (
              <DstNote key={note.at} note={note} />
            ))}
            <span className="preview-time">
              <Time at={at} zone={zone} show="wall" />
              <span className="quiet">
                <Time at={at} zone={zone} />
                {coming?.[index] !== undefined && ` · ${say(`pace.${coming[index].certainty}`)}`}
              </span>
            </span>
          </li>
        ))}
      </ol>
    </>
  )
}

const notesBetween = (notes: readonly DstNoteView[], before: string | undefined, at: string): readonly DstNoteView[] =>
  notes.filter((note) => note.at <= at && (before === undefined || note.at > before))

/** Loud where it moves or drops an occurrence, quiet where it only passes by. */
function DstNote({ note: { kind, sentence, effect, at, zone } }: { readonly note: DstNoteView }): ReactNode {
  const say = useSay()
  if (effect === 'none')
    return (
      <span className="preview-dst" data-quiet role="note">
        <IconClockEdit size={13} aria-hidden />
        <Time at={at} zone={zone} show="wall" /> {say(`edit.dstNote.${kind}`)}
      </span>
    )
  return (
    <span className="preview-dst" role="note">
      <IconClockEdit size={14} aria-hidden />
      <span>
        <strong>{say(`edit.dstNote.${kind}`)}</strong> {sentence}
      </span>
    </span>
  )
}
