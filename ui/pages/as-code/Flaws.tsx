import type { ReactNode } from 'react'
import { Panel } from '../../parts/Panel.tsx'
import { useSay } from '../../texts/TextProvider.tsx'
import type { TextFlaw } from './use-plan.ts'

interface FlawsProps {
  readonly flaws: readonly TextFlaw[]
  /** Leads to where it stands. */
  readonly show: (flaw: TextFlaw) => void
}

/** What is wrong with a text, line by line. */
export function Flaws({ flaws, show }: FlawsProps): ReactNode {
  const say = useSay()
  return (
    <Panel title={say('asCode.flaws')}>
      <ul className="as-code-flaws" role="alert">
        {flaws.map((flaw, index) => (
          <li key={index}>
            {flaw.line !== null && (
              <button type="button" className="as-code-place" onClick={() => show(flaw)}>
                {say('asCode.place', { line: flaw.line, column: flaw.column ?? 1 })}
              </button>
            )}
            <span>
              {flaw.field !== null && <code>{flaw.field}</code>} {flaw.message}
              {flaw.allowed !== null && (
                <span className="quiet small as-code-allowed">{say('asCode.allowed', { allowed: flaw.allowed })}</span>
              )}
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  )
}
