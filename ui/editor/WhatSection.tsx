import { Button, SegmentedControl, Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { agentList } from '../api/queries.ts'
import { useMay } from '../api/session.ts'
import { useSay } from '../texts/TextProvider.tsx'
import { useEditor } from './context.ts'
import { TextBox, TextField } from './fields.tsx'
import { written } from './form/form-of.ts'
import type { ScheduleForm } from './form/form.ts'
import { payloadInput } from './form/input-of.ts'
import { Section } from './Section.tsx'

/** What is to be done, and by whom. */
export function WhatSection(): ReactNode {
  const say = useSay()
  return (
    <Section title={say('edit.what')} number={1}>
      <TextField name="name" named="edit.name" example="edit.name.example" isFirst />
      <AgentField />
      <PayloadField />
      <TextField name="description" named="edit.description" example="edit.description.example" />
    </Section>
  )
}

function AgentField(): ReactNode {
  const say = useSay()
  const { form, set, errorOf } = useEditor()
  const agents = useQuery({ ...agentList, enabled: useMay('agents:read') }).data?.items ?? []
  const names = agents.map(({ id, name }) => ({ value: id, label: name === id ? id : `${name} · ${id}` }))
  const { agent_id: chosen, executor } = form
  const isKnown = chosen === null || agents.some(({ id }) => id === chosen)
  return (
    <Select
      {...{ label: say('edit.agent'), value: chosen, error: errorOf('agent_id', 'executor'), 'data-field': 'agent_id' }}
      {...{ searchable: true, clearable: true, nothingFoundMessage: say('edit.agent.none') }}
      placeholder={executor === null ? say('edit.agent.default') : say('edit.agent.own', { kind: executor.kind })}
      data={isKnown ? names : [{ value: chosen, label: chosen }, ...names]}
      onChange={(agent) => set({ agent_id: agent })}
    />
  )
}

/** Text for people, JSON for agents that take more than words; going over keeps what was written. */
function PayloadField(): ReactNode {
  const say = useSay()
  const { form, set } = useEditor()
  const { payload_as: as } = form
  const change = (to: string): void => {
    if (to === 'json') {
      const payload = payloadInput(form)
      set({ payload_as: 'json', json: payload === null ? '' : written(payload) })
    } else set({ payload_as: 'text', ...textIn(form.json) })
  }
  return (
    <div className="payload">
      <div className="payload-head">
        <span className="field-name">{say('edit.payload')}</span>
        <SegmentedControl
          {...{ value: as, onChange: change, size: 'xs', 'aria-label': say('edit.payload.as') }}
          data={[
            { value: 'text', label: say('edit.payload.text') },
            { value: 'json', label: say('edit.payload.json') },
          ]}
        />
      </div>
      {as === 'json' ? (
        <TextBox name="json" named="edit.payload.jsonLabel" rows={6} isCode knownAs={['payload']} />
      ) : (
        <>
          <TextBox name="prompt" named="edit.prompt" example="edit.prompt.example" rows={3} knownAs={['payload']} />
          <TextBox name="output" named="edit.output" example="edit.output.example" rows={1} />
          {form.context !== null && <ContextLine />}
        </>
      )}
    </div>
  )
}

/** What the prompt comes with; it is written in the JSON, and here it can be left out. */
function ContextLine(): ReactNode {
  const say = useSay()
  const { form, set } = useEditor()
  return (
    <div className="context-line">
      <span className="field-name">{say('draft.context')}</span>
      <code title={written(form.context)}>{JSON.stringify(form.context)}</code>
      <Button variant="subtle" color="gray" size="compact-xs" onClick={() => set({ context: null })}>
        {say('draft.context.leave')}
      </Button>
    </div>
  )
}

/** The text fields of a JSON payload; its other fields are kept until the text is edited. */
function textIn(json: string): Partial<Pick<ScheduleForm, 'prompt' | 'output' | 'context'>> {
  try {
    const { prompt, output, context = null } = (JSON.parse(json) ?? {}) as Readonly<Record<string, unknown>>
    return {
      context,
      ...(typeof prompt === 'string' ? { prompt } : {}),
      ...(typeof output === 'string' ? { output } : {}),
    }
  } catch {
    return {}
  }
}
