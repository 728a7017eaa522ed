import { Alert, Button, Checkbox, Drawer, NumberInput, SegmentedControl, Select, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import type { BackfillView } from '../../../../src/features/backfill/schema.ts'
import type { ScheduleView } from '../../../../src/features/schedules/schema.ts'
import { api } from '../../../api/client.ts'
import { messageOf } from '../../../api/refusal.ts'
import { toast } from '../../../parts/toasts/toast-store.ts'
import { useSay } from '../../../texts/TextProvider.tsx'
import { useNow } from '../../../time/clock.ts'
import { BackfillPlan } from './BackfillPlan.tsx'
import { firstForm, inputOf, type BackfillForm } from './backfill-form.ts'

const MINUTE = 60_000

interface BackfillDrawerProps {
  readonly schedule: ScheduleView
  readonly close: () => void
}

/** Chooses a range and a pace, shows what would be done, and only then does it. */
export function BackfillDrawer({ schedule, close }: BackfillDrawerProps): ReactNode {
  const say = useSay()
  const queries = useQueryClient()
  const now = useNow(MINUTE)
  const zone = schedule.timezone
  const [form, setForm] = useState(() => firstForm(now, zone))
  const ask = useMutation({
    mutationFn: (isPlan: boolean) => begin(schedule.id, { form, zone, isPlan }),
    onSuccess: ({ id, total }) => {
      if (id === null) return
      toast({ tone: 'done', message: say('backfill.started', { count: total }) })
      void queries.invalidateQueries({ queryKey: ['backfills'] })
      close()
    },
  })
  const set = (part: Partial<BackfillForm>): void => {
    setForm({ ...form, ...part })
    ask.reset()
  }
  return (
    <Drawer
      {...{ opened: true, onClose: close, position: 'right', size: 560 }}
      title={say('backfill.title', { name: schedule.name })}
      closeButtonProps={{ 'aria-label': say('action.close') }}
    >
      <div className="backfill-form">
        <p className="backfill-lead">{say('backfill.lead')}</p>
        <RangeFields {...{ form, set, zone }} />
        <PaceFields {...{ form, set }} />
        {ask.error !== null && (
          <Alert color="red" role="alert">
            {messageOf(ask.error, say)}
          </Alert>
        )}
        {ask.data !== undefined && <BackfillPlan plan={ask.data} zone={zone} />}
        <Steps {...{ plan: ask.data, isBusy: ask.isPending, take: ask.mutate }} />
      </div>
    </Drawer>
  )
}

async function begin(
  id: string,
  asked: { readonly form: BackfillForm; readonly zone: string; readonly isPlan: boolean },
): Promise<BackfillView> {
  // The fields are required, so a range that cannot be read is the server's to refuse with its words.
  const input = inputOf(asked.form, { now: Date.now(), zone: asked.zone }) ?? {
    from: asked.form.from,
    to: asked.form.to,
  }
  return api.schedules.backfill(id, { ...input, dry_run: asked.isPlan })
}

interface FieldsProps {
  readonly form: BackfillForm
  readonly set: (part: Partial<BackfillForm>) => void
}

function RangeFields({ form, set, zone }: FieldsProps & { readonly zone: string }): ReactNode {
  const say = useSay()
  const moment = (name: 'from' | 'to'): ReactNode => (
    <TextInput
      {...{ type: 'datetime-local', label: say(`backfill.${name}`), value: form[name], required: true }}
      onChange={(event) => set({ [name]: event.currentTarget.value })}
    />
  )
  return (
    <>
      <SegmentedControl
        {...{ value: form.range, fullWidth: true, 'aria-label': say('backfill.range') }}
        data={(['day', 'week', 'month', 'other'] as const).map((value) => ({
          ...{ value, label: say(`backfill.range.${value}`) },
        }))}
        onChange={(range) => set({ range })}
      />
      {form.range === 'other' && (
        <>
          <div className="backfill-pair">
            {moment('from')}
            {moment('to')}
          </div>
          <p className="backfill-lead">{say('backfill.zone', { zone: zone.replaceAll('_', ' ') })}</p>
        </>
      )}
    </>
  )
}

function PaceFields({ form, set }: FieldsProps): ReactNode {
  const say = useSay()
  const whole = (value: string | number): number => Math.max(0, Math.trunc(Number(value) || 0))
  return (
    <>
      <Select
        {...{ label: say('backfill.which'), value: form.which, allowDeselect: false }}
        data={(['missing', 'failed', 'all'] as const).map((value) => ({
          value,
          label: say(`backfill.which.${value}`),
        }))}
        onChange={(which) => which !== null && set({ which })}
      />
      <Select
        {...{ label: say('backfill.policy'), value: form.policy, allowDeselect: false }}
        data={(['wait', 'beside'] as const).map((value) => ({ value, label: say(`backfill.policy.${value}`) }))}
        onChange={(policy) => policy !== null && set({ policy })}
      />
      <div className="backfill-pair">
        <NumberInput
          {...{ label: say('backfill.maxActive'), value: form.maxActive, min: 1, max: 100, allowDecimal: false }}
          onChange={(value) => set({ maxActive: Math.max(1, whole(value)) })}
        />
        <NumberInput
          {...{ label: say('backfill.spacing'), value: form.spacingSeconds, min: 0, max: 86_400, allowDecimal: false }}
          onChange={(value) => set({ spacingSeconds: whole(value) })}
        />
        <Select
          {...{ label: say('backfill.order'), value: form.order, allowDeselect: false }}
          data={(['oldest', 'newest'] as const).map((value) => ({ value, label: say(`backfill.order.${value}`) }))}
          onChange={(order) => order !== null && set({ order })}
        />
        <NumberInput
          {...{ label: say('backfill.stopOn'), value: form.stopOn ?? '', min: 1, allowDecimal: false }}
          placeholder={say('backfill.stopOn.hint')}
          onChange={(value) => set({ stopOn: value === '' ? null : Math.max(1, whole(value)) })}
        />
      </div>
      <Checkbox
        {...{ checked: form.deliver, size: 'xs', label: say('backfill.deliver') }}
        onChange={(event) => set({ deliver: event.currentTarget.checked })}
      />
    </>
  )
}

interface StepsProps {
  readonly plan: BackfillView | undefined
  readonly isBusy: boolean
  readonly take: (isPlan: boolean) => void
}

/** First the plan, and only then the rest. */
function Steps({ plan, isBusy, take }: StepsProps): ReactNode {
  const say = useSay()
  if (plan === undefined)
    return (
      <div>
        <Button loading={isBusy} onClick={() => take(true)}>
          {say('backfill.plan')}
        </Button>
      </div>
    )
  return (
    <div>
      <Button loading={isBusy} disabled={plan.total === 0} onClick={() => take(false)}>
        {plan.total === 0 ? say('backfill.nothing') : say('backfill.start', { count: plan.total })}
      </Button>
    </div>
  )
}
