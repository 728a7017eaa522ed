import { Button, Modal, Select, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState, type ReactNode, type SubmitEvent } from 'react'
import { agentList } from '../../api/queries.ts'
import { useSay } from '../../texts/TextProvider.tsx'
import { newSessionKey } from '../../parts/session-name.ts'
import { beginUnsaved } from './queries.ts'
import { useBegin } from './use-begin.ts'

/** Asks whom one wants to talk to, and goes there. Nothing is made before the first message. */
export function NewConversation(): ReactNode {
  const say = useSay()
  const { isOpen, close } = useBegin()
  return (
    <Modal
      {...{ opened: isOpen, onClose: close, title: say('chat.new.title'), returnFocus: false }}
      closeButtonProps={{ 'aria-label': say('action.close') }}
    >
      <Form />
    </Modal>
  )
}

function Form(): ReactNode {
  const say = useSay()
  const navigate = useNavigate()
  const agents = useQuery(agentList).data?.items ?? []
  const [chosen, setChosen] = useState<string | null>(null)
  const [name, setName] = useState('')
  const agent = chosen ?? agents[0]?.id ?? null
  const begin = (event: SubmitEvent): void => {
    event.preventDefault()
    if (agent === null) return
    const key = newSessionKey(agent, name)
    // A name that was given may be that of a session that exists.
    if (name.trim() === '') beginUnsaved(key)
    void navigate({ to: '/chat/$key', params: { key }, search: {} })
  }
  return (
    <form className="new-talk" onSubmit={begin}>
      <Select
        {...{ label: say('chat.new.agent'), value: agent, onChange: setChosen, searchable: true, allowDeselect: false }}
        data={agents.map((one) => ({ value: one.id, label: one.name === one.id ? one.id : `${one.name} · ${one.id}` }))}
      />
      <TextInput
        {...{ label: say('chat.new.name'), description: say('chat.new.nameHint'), value: name, maxLength: 100 }}
        onChange={(event) => setName(event.currentTarget.value)}
        data-autofocus
      />
      <Button type="submit" disabled={agent === null}>
        {say('chat.new.begin')}
      </Button>
    </form>
  )
}
