import { Button, SegmentedControl, Select, Switch } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { ProbeInput, ProbeTryView } from '../../src/features/probes/schema.ts'
import { api } from '../api/client.ts'
import { messageOf } from '../api/refusal.ts'
import { Permitted } from '../parts/Permitted.tsx'
import { useSay } from '../texts/TextProvider.tsx'
import { useEditor } from './context.ts'
import { ChoiceField, TextBox, TextField } from './fields.tsx'
import { written } from './form/form-of.ts'
import { probeInput, PROBE_OPS, takesValue, type ProbeForm } from './form/probe-form.ts'
import { Fold } from './Section.tsx'

const WAYS = ['none', 'http', 'json'] as const
const ON_ERRORS = [
  ['run', 'probe.onError.run'],
  ['fail', 'probe.onError.fail'],
] as const

/** The check that decides whether the agent runs. */
export function AskSection({ scheduleId }: { readonly scheduleId: string | null }): ReactNode {
  const say = useSay()
  const { form, set, isWrongIn } = useEditor()
  const { probe_as: as } = form
  const summary = as === 'none' ? say('probe.none') : as === 'http' ? shortUrl(form.probe_url) : say('probe.own')
  const change = (to: string): void => {
    const given = to === 'json' ? probeInput(form) : null
    set({
      probe_as: to as ProbeForm['probe_as'],
      ...(given === null || typeof given === 'string' ? {} : { probe_json: written(given) }),
    })
  }
  return (
    <Fold title={say('probe.title')} number={3} summary={summary} isWrong={isWrongIn(['probe'])}>
      <p className="quiet small probe-about">{say('probe.about')}</p>
      <SegmentedControl
        {...{ value: as, onChange: change, size: 'xs', 'aria-label': say('probe.as') }}
        data={WAYS.map((way) => ({ value: way, label: say(`probe.as.${way}`) }))}
      />
      {as === 'http' && <HttpFields />}
      {as === 'json' && (
        <TextBox name="probe_json" named="probe.json" hint="probe.json.hint" rows={6} isCode knownAs={KNOWN_JSON} />
      )}
      {as !== 'none' && <TryIt scheduleId={scheduleId} />}
    </Fold>
  )
}

const KNOWN_JSON = [
  ...['probe', 'probe.kind', 'probe.url', 'probe.program', 'probe.directory', 'probe.when', 'probe.of'],
  ...['probe.headers', 'probe.body', 'probe.args', 'probe.changed', 'probe.when.op', 'probe.when.path'],
]

const shortUrl = (text: string): string => (URL.canParse(text) ? new URL(text).host : text)

function HttpFields(): ReactNode {
  const say = useSay()
  const { form, set, errorOf } = useEditor()
  return (
    <>
      <TextField
        name="probe_url"
        named="probe.url"
        example="probe.url.example"
        isCode
        knownAs={['probe', 'probe.url']}
      />
      <div className="edit-pair">
        <TextField
          name="probe_path"
          named="probe.path"
          example="probe.path.example"
          isCode
          knownAs={['probe.when.path']}
        />
        <Select
          {...{ label: say('probe.op'), value: form.probe_op === '' ? null : form.probe_op, clearable: true }}
          {...{ placeholder: say('probe.op.none'), error: errorOf('probe.when.op', 'probe.when') }}
          data={PROBE_OPS.map((op) => ({ value: op, label: op.replaceAll('_', ' ') }))}
          onChange={(op) => set({ probe_op: op ?? '' })}
        />
        {takesValue(form.probe_op) && (
          <TextField name="probe_value" named="probe.value" isCode knownAs={['probe.when.value']} />
        )}
        <ChoiceField name="probe_on_error" named="probe.onError" choices={ON_ERRORS} knownAs={['probe.on_error']} />
      </div>
      <Switch
        {...{ checked: form.probe_changed, size: 'xs', label: say('probe.changed') }}
        onChange={(event) => set({ probe_changed: event.currentTarget.checked })}
      />
    </>
  )
}

/** Asks once and says what would be decided. */
function TryIt({ scheduleId }: { readonly scheduleId: string | null }): ReactNode {
  const say = useSay()
  const { form } = useEditor()
  const asking = useMutation({
    mutationFn: () =>
      api.schedules.probe({
        probe: probeInput(form) as ProbeInput,
        ...(scheduleId === null ? {} : { schedule_id: scheduleId }),
      }),
  })
  return (
    <div className="probe-try">
      <Permitted permission="schedules:write">
        <Button variant="default" size="xs" loading={asking.isPending} onClick={() => asking.mutate()}>
          {say('probe.try')}
        </Button>
      </Permitted>
      <div role="status" className="probe-answer">
        {asking.error !== null && <span className="bad">{messageOf(asking.error, say)}</span>}
        {asking.data !== undefined && <Answer answer={asking.data} />}
      </div>
    </div>
  )
}

function Answer({ answer }: { readonly answer: ProbeTryView }): ReactNode {
  const say = useSay()
  const { sentence, seen, duration_ms: took } = answer
  return (
    <>
      <strong>{say(answer.wakes ? 'probe.wakes' : 'probe.sleeps')}</strong>{' '}
      <span className="quiet">
        {say('probe.saw', { answer: say(`probe.answer.${answer.answer}`), sentence, took })}
      </span>
      {seen !== '' && <pre className="probe-seen">{seen}</pre>}
    </>
  )
}
