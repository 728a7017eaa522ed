import { SegmentedControl } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import { PageHead } from '../../parts/PageHead.tsx'
import { useSay } from '../../texts/TextProvider.tsx'
import { ApplyPane } from './ApplyPane.tsx'
import { ExportPane } from './ExportPane.tsx'
import './as-code.css'

/** Everything as one file: what is stored, and what a file would change. */
export function AsCodePage(): ReactNode {
  const say = useSay()
  const { tab, kinds } = useSearch({ from: '/shell/automation/as-code' })
  const navigate = useNavigate({ from: '/automation/as-code' })
  // Kept here, so that a look at the other tab loses nothing.
  const [text, setText] = useState('')
  return (
    <>
      <PageHead title={say('asCode.title')} lead={say('asCode.lead')} />
      <div className="as-code">
        <SegmentedControl
          {...{ value: tab ?? 'export', 'aria-label': say('asCode.tabs'), className: 'as-code-tabs' }}
          data={(['export', 'apply'] as const).map((value) => ({ value, label: say(`asCode.tab.${value}`) }))}
          onChange={(chosen) =>
            void navigate({ search: (before) => ({ ...before, tab: chosen === 'apply' ? 'apply' : undefined }) })
          }
        />
        {tab === 'apply' ? (
          <ApplyPane {...{ text, setText }} />
        ) : (
          <ExportPane
            kinds={kinds}
            choose={(chosen) => void navigate({ search: (before) => ({ ...before, kinds: chosen }), replace: true })}
          />
        )}
      </div>
    </>
  )
}
