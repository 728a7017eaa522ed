import { Button, Modal, Switch, Textarea, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState, type ReactNode, type SubmitEvent } from 'react'
import type { RetryInput, RunDetail } from '../../../../src/features/runs/schema.ts'
import { agentList } from '../../../api/queries.ts'
import { useRetry } from '../../../api/run-actions.ts'
import { useMay } from '../../../api/session.ts'
import { useSay } from '../../../texts/TextProvider.tsx'
import { wordsOf } from '../run-row.ts'

interface RunAgainProps {
  readonly run: RunDetail
  readonly isOpen: boolean
  readonly close: () => void
}

/** Runs it again with another prompt, payload or model, and goes to the new run. */
export function RunAgain({ run, isOpen, close }: RunAgainProps): ReactNode {
  const say = useSay()
  return (
    <Modal
      {...{ opened: isOpen, onClose: close, title: say('again.title'), size: 'lg' }}
      closeButtonProps={{ 'aria-label': say('action.close') }}
    >
      <Form run={run} close={close} />
    </Modal>
  )
}

function Form({ run, close }: Pick<RunAgainProps, 'run' | 'close'>): ReactNode {
  const say = useSay()
  const navigate = useNavigate()
  const retry = useRetry()
  const model = useModel(run)
  const words = wordsOf(run.payload)
  const json = JSON.stringify(run.payload, null, 2)
  const [isWhole, setWhole] = useState(words === null)
  const [prompt, setPrompt] = useState(words ?? '')
  const [payload, setPayload] = useState(json)
  const [otherModel, setOtherModel] = useState('')
  const parsed = isWhole ? parse(payload) : { value: undefined }
  const edits: RetryInput = {
    ...(isWhole
      ? payload === json || parsed === null
        ? {}
        : { payload: parsed.value }
      : prompt === words
        ? {}
        : { prompt }),
    ...(otherModel.trim() === '' ? {} : { model: otherModel.trim() }),
  }
  const isEmpty = !isWhole && prompt.trim() === ''
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    retry.mutate(
      { id: run.id, status: run.status, edits },
      {
        onSuccess: ({ id }) => {
          close()
          void navigate({ to: '/automation/runs/$id', params: { id } })
        },
      },
    )
  }
  return (
    <form className="again" onSubmit={submit}>
      <What {...{ words, isWhole, setWhole, prompt, setPrompt, payload, setPayload, isWrong: parsed === null }} />
      {model !== null && (
        <TextInput
          {...{ label: say('again.model'), placeholder: run.edits?.model ?? model, value: otherModel, maxLength: 200 }}
          onChange={(event) => setOtherModel(event.currentTarget.value)}
        />
      )}
      <div className="modal-foot">
        <Button variant="default" onClick={close}>
          {say('action.cancel')}
        </Button>
        <Button type="submit" loading={retry.isPending} disabled={parsed === null || isEmpty}>
          {say('run.again')}
        </Button>
      </div>
    </form>
  )
}

interface WhatProps {
  /** The prompt of the original; null: its payload has none. */
  readonly words: string | null
  readonly isWhole: boolean
  readonly setWhole: (isWhole: boolean) => void
  readonly prompt: string
  readonly setPrompt: (text: string) => void
  readonly payload: string
  readonly setPayload: (text: string) => void
  readonly isWrong: boolean
}

/** The prompt, or the whole payload. */
function What({ words, isWhole, setWhole, prompt, setPrompt, payload, setPayload, isWrong }: WhatProps): ReactNode {
  const say = useSay()
  return (
    <>
      {isWhole ? (
        <Textarea
          {...{ label: say('again.payload'), value: payload, autosize: true, minRows: 6, maxRows: 16 }}
          styles={{ input: { fontFamily: 'var(--font-mono)', fontSize: 12.5 } }}
          error={isWrong ? say('again.notJson') : null}
          onChange={(event) => setPayload(event.currentTarget.value)}
          data-autofocus
        />
      ) : (
        <Textarea
          {...{ label: say('again.prompt'), value: prompt, autosize: true, minRows: 4, maxRows: 16 }}
          onChange={(event) => setPrompt(event.currentTarget.value)}
          data-autofocus
        />
      )}
      {words !== null && (
        <Switch
          label={say('again.whole')}
          checked={isWhole}
          onChange={(event) => setWhole(event.currentTarget.checked)}
        />
      )}
    </>
  )
}

/** The model of the run's agent; null where the agent calls none, or may not be seen. */
function useModel({ agent_id: id }: RunDetail): string | null {
  const { data } = useQuery({ ...agentList, enabled: useMay('agents:read') })
  const executor = data?.items.find((agent) => agent.id === id)?.executor
  return executor?.kind === 'chat' ? executor.model : null
}

function parse(text: string): { readonly value: unknown } | null {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch {
    return null
  }
}
