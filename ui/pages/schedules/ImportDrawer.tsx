import {
  Alert,
  Button,
  Checkbox,
  Drawer,
  FileButton,
  SegmentedControl,
  Select,
  Textarea,
  TextInput,
} from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import type { ImportReport } from '../../../src/features/import/schema.ts'
import { api } from '../../api/client.ts'
import { agentList } from '../../api/queries.ts'
import { messageOf } from '../../api/refusal.ts'
import { useMay } from '../../api/session.ts'
import { toast } from '../../parts/toasts/toast-store.ts'
import { useSay } from '../../texts/TextProvider.tsx'
import { OWN_ZONE } from '../../time/zone.ts'
import { ImportLines } from './ImportLines.tsx'
import type { ImportSource } from './schedule-search.ts'
import './import.css'

interface ImportDrawerProps {
  readonly source: ImportSource
  readonly choose: (source: ImportSource) => void
  readonly close: () => void
}

interface ImportForm {
  readonly text: string
  readonly agent_id: string | null
  readonly timezone: string
  readonly system: boolean
  readonly disabled: boolean
}

const EMPTY: ImportForm = { text: '', agent_id: null, timezone: OWN_ZONE, system: false, disabled: false }

/** Takes over the file of another scheduler: paste, see the plan, apply. */
export function ImportDrawer({ source, choose, close }: ImportDrawerProps): ReactNode {
  const say = useSay()
  const queries = useQueryClient()
  const [form, setForm] = useState(EMPTY)
  const carry = useMutation({
    mutationFn: (plan: boolean) => take(source, form, plan),
    onSuccess: ({ plan, counts }) => {
      if (plan) return
      toast({ tone: 'done', message: say('import.applied', { count: counts.new + counts.changed }) })
      void queries.invalidateQueries({ queryKey: ['schedules'] })
    },
  })
  const set = (part: Partial<ImportForm>): void => {
    setForm({ ...form, ...part })
    carry.reset()
  }
  return (
    <Drawer
      {...{ opened: true, onClose: close, position: 'right', size: 760, title: say('import.title') }}
      closeButtonProps={{ 'aria-label': say('action.close') }}
    >
      <div className="import">
        <p className="import-lead">{say('import.lead')}</p>
        <SegmentedControl
          {...{ value: source, 'aria-label': say('import.source') }}
          data={(['crontab', 'openclaw'] as const).map((value) => ({ value, label: say(`import.source.${value}`) }))}
          onChange={(chosen) => {
            choose(chosen)
            carry.reset()
          }}
        />
        <Fields {...{ source, form, set }} />
        {carry.error !== null && (
          <Alert color="red" role="alert">
            {messageOf(carry.error, say)}
          </Alert>
        )}
        <Steps
          {...{ report: carry.data, isBusy: carry.isPending, isEmpty: form.text.trim() === '' }}
          take={carry.mutate}
        />
        {carry.data !== undefined && <ImportLines report={carry.data} />}
      </div>
    </Drawer>
  )
}

const take = (source: ImportSource, form: ImportForm, plan: boolean): Promise<ImportReport> => {
  const { text, agent_id, disabled, system } = form
  const zone = form.timezone.trim()
  const input = { text, plan, agent_id, disabled, ...(zone === '' ? {} : { timezone: zone }) }
  return source === 'crontab' ? api.import.crontab({ ...input, system }) : api.import.openclaw(input)
}

interface FieldsProps {
  readonly source: ImportSource
  readonly form: ImportForm
  readonly set: (part: Partial<ImportForm>) => void
}

function Fields({ source, form, set }: FieldsProps): ReactNode {
  const say = useSay()
  const agents = useQuery({ ...agentList, enabled: useMay('agents:read') }).data?.items ?? []
  return (
    <>
      <Textarea
        {...{ value: form.text, rows: 9, spellCheck: false, 'data-field': 'import', 'data-autofocus': true }}
        {...{ classNames: { input: 'import-code' }, label: say(`import.text.${source}`) }}
        onChange={(event) => set({ text: event.currentTarget.value })}
      />
      <div>
        <FileButton onChange={(file) => void file?.text().then((text) => set({ text }))}>
          {(props) => (
            <Button {...props} variant="default" size="compact-sm">
              {say('import.file')}
            </Button>
          )}
        </FileButton>
      </div>
      <div className="import-pair">
        <Select
          {...{ label: say('import.agent'), value: form.agent_id, clearable: true, searchable: true }}
          {...{ description: say(`import.agent.hint.${source}`), placeholder: say('import.agent.none') }}
          data-field="import-agent"
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          data={agents.map(({ id, name }) => ({ value: id, label: name === id ? id : `${name} · ${id}` }))}
          onChange={(agent) => set({ agent_id: agent })}
        />
        <TextInput
          {...{ label: say('import.zone'), value: form.timezone, autoComplete: 'off', spellCheck: false }}
          onChange={(event) => set({ timezone: event.currentTarget.value })}
        />
      </div>
      <div className="import-switches">
        {source === 'crontab' && (
          <Checkbox
            {...{ checked: form.system, size: 'xs', label: say('import.system') }}
            onChange={(event) => set({ system: event.currentTarget.checked })}
          />
        )}
        <Checkbox
          {...{ checked: form.disabled, size: 'xs', label: say('import.disabled') }}
          onChange={(event) => set({ disabled: event.currentTarget.checked })}
        />
      </div>
    </>
  )
}

interface StepsProps {
  readonly report: ImportReport | undefined
  readonly isBusy: boolean
  readonly isEmpty: boolean
  readonly take: (plan: boolean) => void
}

/** First the plan, and only then the rest. */
function Steps({ report, isBusy, isEmpty, take: start }: StepsProps): ReactNode {
  const say = useSay()
  const count = report === undefined ? 0 : report.counts.new + report.counts.changed
  if (report?.plan !== true)
    return (
      <div className="import-steps">
        <Button loading={isBusy} disabled={isEmpty} onClick={() => start(true)}>
          {say('import.plan')}
        </Button>
      </div>
    )
  return (
    <div className="import-steps">
      <Button loading={isBusy} disabled={count === 0} onClick={() => start(false)}>
        {count === 0 ? say('import.nothing') : say('import.apply', { count })}
      </Button>
    </div>
  )
}
