import type { ReactNode } from 'react'
import type { ImportedLine, ImportReport } from '../../../src/features/import/schema.ts'
import { useSay } from '../../texts/TextProvider.tsx'
import { Time } from '../../time/Time.tsx'

/** What becomes of a file, line by line. */
export function ImportLines({ report }: { readonly report: ImportReport }): ReactNode {
  const say = useSay()
  return (
    <section aria-label={report.plan ? say('import.planned') : say('import.done')}>
      <h3 className="import-head" role="status">
        {report.plan ? say('import.planned') : say('import.done')}
      </h3>
      <ol className="import-lines">
        {report.lines.map((line) => (
          <Line key={`${line.line} ${line.outcome}`} line={line} />
        ))}
      </ol>
    </section>
  )
}

function Line({ line }: { readonly line: ImportedLine }): ReactNode {
  const say = useSay()
  return (
    <li>
      <span className={`import-mark import-${line.outcome}`}>{say(`import.outcome.${line.outcome}`)}</span>
      <div className="import-said">
        <code className="import-text">{line.column === null ? (line.name ?? line.text) : line.text}</code>
        <span className="quiet small">
          {say('import.line', { line: line.line })}
          {line.column !== null && <> {say('import.column', { column: line.column })}</>}
          {line.sentence !== null && <> · {line.sentence}</>}
          {line.next_run_at !== null && (
            <>
              {' · '}
              <Time at={line.next_run_at} show="relative" />
            </>
          )}
        </span>
        {line.notes.length > 0 && (
          <ul className="import-notes small">
            {line.notes.map((note) => (
              <li key={note}>{note}</li>
            ))}
          </ul>
        )}
      </div>
    </li>
  )
}
