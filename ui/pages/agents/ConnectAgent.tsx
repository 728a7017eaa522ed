import { Alert, Button, Drawer } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useRef, useState, type ReactNode } from 'react'
import type { AgentInput, AgentView } from '../../../src/features/agents/schema.ts'
import { api } from '../../api/client.ts'
import { secretList } from '../../api/admin-queries.ts'
import { agentList } from '../../api/queries.ts'
import { messageOf } from '../../api/refusal.ts'
import { useIsOperator } from '../../api/session.ts'
import { FormDrawer } from '../../forms/FormDrawer.tsx'
import { railsOf, withRails } from '../../forms/restriction-fields.ts'
import { useSay } from '../../texts/TextProvider.tsx'
import { agentFields } from './agent-fields.ts'
import { AgentTest } from './AgentTest.tsx'
import { usualOf } from './executor-fields.ts'
import { idFor, PRESETS, refusedAddress, secretNameFor, typedKeyOf, type Preset } from './presets.ts'
import './connect.css'

interface ConnectAgentProps {
  readonly close: () => void
}

const TOUCHES = [['agents'], ['audit'], ['secrets']]

/** A new agent: what it runs on, what that needs, and whether it answers. */
export function ConnectAgent({ close }: ConnectAgentProps): ReactNode {
  const [preset, setPreset] = useState<Preset | null>(null)
  const [agent, setAgent] = useState<AgentView | null>(null)
  if (agent !== null) return <AgentTest {...{ agent, close, isNew: true }} />
  if (preset === null) return <ChoosePreset {...{ close, choose: setPreset }} />
  return <PresetForm {...{ preset, close, back: () => setPreset(null), created: setAgent }} />
}

function ChoosePreset({ close, choose }: ConnectAgentProps & { readonly choose: (preset: Preset) => void }): ReactNode {
  const say = useSay()
  return (
    <Drawer
      {...{ opened: true, onClose: close, title: say('connect.title'), position: 'right', size: 520 }}
      closeButtonProps={{ 'aria-label': say('action.close') }}
    >
      <div className="presets">
        {PRESETS.map((preset) => (
          <button key={preset.id} type="button" className="preset" onClick={() => choose(preset)}>
            <span className="preset-name">{preset.name}</span>
            <span className="quiet small">{say(preset.about)}</span>
          </button>
        ))}
      </div>
    </Drawer>
  )
}

interface PresetFormProps extends ConnectAgentProps {
  readonly preset: Preset
  readonly back: () => void
  readonly created: (agent: AgentView) => void
}

function PresetForm({ preset, close, back, created }: PresetFormProps): ReactNode {
  const say = useSay()
  const save = useCreateAgent()
  const { executor } = preset
  const fieldsOf = agentFields(true)
  return (
    <FormDrawer
      {...{ title: say('connect.form', { name: preset.name }), touches: TOUCHES, close, then: created }}
      fields={(values) => fieldsOf({ ...values, 'executor.kind': executor.kind })}
      thing={withRails('self_service', { executor: { ...usualOf(executor.kind), ...executor } })}
      lead={
        <>
          {say(preset.about)}{' '}
          <button type="button" className="plain-button door" onClick={back}>
            {say('connect.other')}
          </button>
        </>
      }
      saved={say('agents.created')}
      submit={say('connect.submit')}
      save={(body) => save(railsOf('self_service', body), executor)}
      remedy={(error, again) => <AllowAddress error={error} again={again} />}
    />
  )
}

type Body = Readonly<Record<string, unknown>>

/** Creates an agent. A typed key becomes a secret first, once: the agent only refers to it. */
function useCreateAgent(): (body: Body, preset: Preset['executor']) => Promise<AgentView> {
  const agents = useQuery(agentList).data?.items ?? []
  const secrets = useQuery(secretList).data?.items ?? []
  const stored = useRef(new Map<string, string>())
  return async (body, preset) => {
    const given = { ...(body['executor'] as Body | undefined), kind: preset.kind } as AgentInput['executor']
    const name = typeof body['name'] === 'string' ? body['name'] : ''
    const id = (body['id'] as string | undefined) ?? idFor(name, agents)
    const typed = typedKeyOf(given)
    let executor = given
    if (typed !== null) {
      const label = `${typed.host} ${typed.key}`
      let secret = stored.current.get(label)
      if (secret === undefined) {
        secret = secretNameFor(id ?? name, [...secrets.map((one) => one.name), ...stored.current.values()])
        await api.secrets.create({ name: secret, value: typed.key, hosts: [typed.host] })
        stored.current.set(label, secret)
      }
      executor = { ...given, api_key: `{{secret:${secret}}}` } as AgentInput['executor']
    }
    return api.agents.create({ ...body, ...(id === undefined ? {} : { id }), executor } as unknown as AgentInput)
  }
}

interface AllowAddressProps {
  readonly error: unknown
  readonly again: () => void
}

/** Lets the operator allow the address that was refused, and sends the form again. */
export function AllowAddress({ error, again }: AllowAddressProps): ReactNode {
  const say = useSay()
  const queries = useQueryClient()
  const isOperator = useIsOperator()
  const address = refusedAddress(messageOf(error, say))
  const allow = useMutation({
    mutationFn: async (host: string) => {
      const { values } = await api.config.get()
      const known = values['outbound.allow_hosts']?.value
      await api.config.update({ outbound: { allow_hosts: [...(Array.isArray(known) ? known.map(String) : []), host] } })
    },
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: ['config'] })
      again()
    },
  })
  if (address === null) return null
  return (
    <Alert color="yellow" classNames={{ label: 'alert-ink' }} title={say('connect.local', { address })}>
      {isOperator ? (
        <>
          <p className="connect-note">{say('connect.localText')}</p>
          <Button size="xs" loading={allow.isPending} onClick={() => allow.mutate(address)}>
            {say('connect.allow', { address })}
          </Button>
        </>
      ) : (
        say('connect.askOperator')
      )}
      {allow.error !== null && <p role="alert">{messageOf(allow.error, say)}</p>}
    </Alert>
  )
}
