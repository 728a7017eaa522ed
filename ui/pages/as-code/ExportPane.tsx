import { Button, Checkbox } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Copyable } from '../../parts/Copyable.tsx'
import { ErrorState } from '../../parts/ErrorState.tsx'
import { Lines } from '../../parts/Lines.tsx'
import { Panel } from '../../parts/Panel.tsx'
import { useSay } from '../../texts/TextProvider.tsx'
import { KINDS } from './as-code-search.ts'
import { exportedFile } from './queries.ts'

const FILE_NAME = 'escapement.yaml'

interface ExportPaneProps {
  readonly kinds: string | undefined
  readonly choose: (kinds: string | undefined) => void
}

/** What is stored, as a file: to read, to copy, to keep. */
export function ExportPane({ kinds, choose }: ExportPaneProps): ReactNode {
  const say = useSay()
  const { data: text, error, refetch } = useQuery(exportedFile(kinds))
  const command = `escapement export${kinds === undefined ? '' : ` --kinds ${kinds}`} -o ${FILE_NAME}`
  return (
    <Panel title={say('asCode.file')} aside={text === undefined ? null : <Take text={text} />}>
      <div className="as-code-pane">
        <Kinds {...{ kinds, choose }} />
        {error !== null && <ErrorState error={error} retry={() => void refetch()} />}
        {error === null && text === undefined && <Lines count={10} height={18} />}
        {error === null && text !== undefined && (
          <pre className="as-code-file" tabIndex={0} aria-label={say('asCode.file')}>
            {text}
          </pre>
        )}
        <p className="quiet small as-code-hint">{say('asCode.exportHint', { command })}</p>
      </div>
    </Panel>
  )
}

function Kinds({ kinds, choose }: ExportPaneProps): ReactNode {
  const say = useSay()
  const chosen = kinds === undefined ? KINDS : KINDS.filter((kind) => kinds.split(',').includes(kind))
  return (
    <fieldset className="as-code-kinds">
      <legend className="quiet small">{say('asCode.kinds')}</legend>
      {KINDS.map((kind) => {
        const isOn = chosen.includes(kind)
        const next = KINDS.filter((one) => (one === kind ? !isOn : chosen.includes(one)))
        return (
          <Checkbox
            {...{ key: kind, size: 'xs', checked: isOn, label: say(`asCode.kind.${kind}`) }}
            // A file of nothing is none.
            disabled={isOn && chosen.length === 1}
            onChange={() => choose(next.length === KINDS.length ? undefined : next.join(','))}
          />
        )
      })}
    </fieldset>
  )
}

function Take({ text }: { readonly text: string }): ReactNode {
  const say = useSay()
  return (
    <div className="as-code-take">
      <Copyable text={text} name={say('asCode.file')} />
      <Button
        {...{ variant: 'default', size: 'compact-sm', leftSection: <IconDownload size={13} aria-hidden /> }}
        onClick={() => download(text)}
      >
        {say('asCode.download')}
      </Button>
    </div>
  )
}

function download(text: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type: 'application/yaml' }))
  link.download = FILE_NAME
  link.click()
  URL.revokeObjectURL(link.href)
}
