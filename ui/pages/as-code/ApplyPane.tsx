import { Alert, Button, Checkbox, FileButton, Textarea } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState, type ReactNode } from 'react'
import { EscapementError } from '../../../src/client/errors.ts'
import type { PlanView } from '../../../src/features/as-code/schema.ts'
import { messageOf } from '../../api/refusal.ts'
import { useMe } from '../../api/session.ts'
import { Panel } from '../../parts/Panel.tsx'
import { toast } from '../../parts/toasts/toast-store.ts'
import { useSay } from '../../texts/TextProvider.tsx'
import { Flaws } from './Flaws.tsx'
import { PlanList } from './PlanList.tsx'
import { exportedFile } from './queries.ts'
import { changesIn, usePlan, type TextFlaw } from './use-plan.ts'

interface ApplyPaneProps {
  readonly text: string
  readonly setText: (text: string) => void
}

/** A file is pasted, its plan is looked at, and exactly that plan is applied. */
export function ApplyPane({ text, setText }: ApplyPaneProps): ReactNode {
  const say = useSay()
  const [prune, setPrune] = useState(false)
  const field = useRef<HTMLTextAreaElement>(null)
  const carry = usePlan()
  const write = (next: string): void => {
    setText(next)
    carry.reset()
  }
  const { plan = null, flaws = [] } = carry.data ?? {}
  return (
    <>
      <Panel title={say('asCode.text')} aside={<Sources write={write} />}>
        <div className="as-code-pane">
          <Textarea
            {...{ ref: field, value: text, rows: 16, spellCheck: false, 'data-field': 'as-code', wrap: 'off' }}
            {...{ classNames: { input: 'as-code-text' }, 'aria-label': say('asCode.text') }}
            description={say('asCode.textHint')}
            onChange={(event) => write(event.currentTarget.value)}
            onDrop={(event) => {
              const file = event.dataTransfer.files.item(0)
              if (file === null) return
              event.preventDefault()
              void file.text().then(write)
            }}
          />
          <Checkbox
            {...{ checked: prune, size: 'xs', label: say('asCode.prune') }}
            onChange={(event) => {
              setPrune(event.currentTarget.checked)
              carry.reset()
            }}
          />
          <Steps
            {...{ plan, isFlawed: flaws.length > 0, isBusy: carry.isPending, isEmpty: text.trim() === '' }}
            start={(expect) => carry.mutate({ text, prune, ...(expect === undefined ? {} : { expect }) })}
          />
        </div>
      </Panel>
      {carry.error !== null && <Refused error={carry.error} />}
      {flaws.length > 0 && <Flaws flaws={flaws} show={(flaw) => select(field.current, flaw)} />}
      {plan !== null && <PlanList plan={plan} />}
    </>
  )
}

/** Puts the cursor where the flaw is. */
function select(field: HTMLTextAreaElement | null, { line, column }: TextFlaw): void {
  if (field === null || line === null) return
  const lines = field.value.split('\n')
  const start = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0)
  field.focus()
  field.setSelectionRange(start + (column ?? 1) - 1, start + (lines[line - 1]?.length ?? 0))
  field.scrollTop = (field.scrollHeight / Math.max(1, lines.length)) * Math.max(0, line - 4)
}

function Sources({ write }: { readonly write: (text: string) => void }): ReactNode {
  const say = useSay()
  const queries = useQueryClient()
  return (
    <div className="as-code-take">
      <Button
        {...{ variant: 'default', size: 'compact-sm' }}
        onClick={() => {
          queries
            .query(exportedFile(undefined))
            .then(write)
            .catch((error: unknown) => toast({ tone: 'failed', message: messageOf(error, say) }))
        }}
      >
        {say('asCode.fill')}
      </Button>
      <FileButton accept=".yaml,.yml,.json" onChange={(file) => void file?.text().then(write)}>
        {(props) => (
          <Button {...props} variant="default" size="compact-sm">
            {say('asCode.choose')}
          </Button>
        )}
      </FileButton>
    </div>
  )
}

interface StepsProps {
  readonly plan: PlanView | null
  readonly isFlawed: boolean
  readonly isBusy: boolean
  readonly isEmpty: boolean
  readonly start: (expect?: string) => void
}

/** First the plan, and only then exactly what it says. */
function Steps({ plan, isFlawed, isBusy, isEmpty, start }: StepsProps): ReactNode {
  const say = useSay()
  const mine = useMe()?.permissions ?? []
  const lacking = plan?.permissions.filter((one) => !mine.includes(one)) ?? []
  if (plan === null || plan.applied)
    return (
      <div className="as-code-steps">
        <Button loading={isBusy} disabled={isEmpty} onClick={() => start()}>
          {say('asCode.plan')}
        </Button>
      </div>
    )
  const count = changesIn(plan)
  const label = isFlawed ? say('asCode.blocked') : count === 0 ? say('asCode.nothing') : say('asCode.apply', { count })
  return (
    <div className="as-code-steps">
      <Button
        {...{ loading: isBusy, disabled: isFlawed || count === 0 || lacking.length > 0 }}
        onClick={() => start(plan.plan_id)}
      >
        {label}
      </Button>
      {lacking.length > 0 && (
        <span className="bad small">{say('asCode.lacking', { permissions: lacking.join(', ') })}</span>
      )}
    </div>
  )
}

function Refused({ error }: { readonly error: unknown }): ReactNode {
  const say = useSay()
  const isStale = error instanceof EscapementError && error.code === 'STALE_VERSION'
  return (
    <Alert color="red" role="alert">
      {isStale ? say('asCode.stale') : messageOf(error, say)}
    </Alert>
  )
}
