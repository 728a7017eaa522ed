import { Button, Modal, TextInput } from '@mantine/core'
import { IconAlertTriangle, IconShieldCheck } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import type { AuditVerdict } from '../../../src/features/audit/schema.ts'
import { api } from '../../api/client.ts'
import { messageOf } from '../../api/refusal.ts'
import { Copyable } from '../../parts/Copyable.tsx'
import { Lines } from '../../parts/Lines.tsx'
import { useSay } from '../../texts/TextProvider.tsx'

/** A button that walks the whole chain and says what is wrong with it. */
export function VerifyChain(): ReactNode {
  const say = useSay()
  const [isOpen, setOpen] = useState(false)
  const [anchor, setAnchor] = useState('')
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: () => api.audit.verify(anchor.trim() === '' ? {} : { anchor: anchor.trim() }),
  })
  return (
    <>
      <Button
        {...{ variant: 'default', leftSection: <IconShieldCheck size={14} aria-hidden /> }}
        onClick={() => {
          setOpen(true)
          mutate()
        }}
      >
        {say('audit.verify')}
      </Button>
      {isOpen && (
        <Modal
          {...{ opened: true, onClose: () => setOpen(false), title: say('audit.verify'), size: 560 }}
          closeButtonProps={{ 'aria-label': say('action.close') }}
        >
          {isPending && <Lines count={2} />}
          {error !== null && <p className="bad">{messageOf(error, say)}</p>}
          {data !== undefined && <Verdict verdict={data} />}
          <div className="anchor">
            <TextInput
              {...{ label: say('audit.anchor'), value: anchor, autoComplete: 'off', spellCheck: false }}
              onChange={(event) => setAnchor(event.currentTarget.value)}
            />
            <Button variant="default" loading={isPending} onClick={() => mutate()}>
              {say('audit.verify')}
            </Button>
          </div>
        </Modal>
      )}
    </>
  )
}

function Verdict({ verdict: { ok, records, head, faults } }: { readonly verdict: AuditVerdict }): ReactNode {
  const say = useSay()
  const Icon = ok ? IconShieldCheck : IconAlertTriangle
  return (
    <div className="details" role="status">
      <p className="verdict">
        <Icon size={18} color={ok ? 'var(--success)' : 'var(--failure)'} aria-hidden />
        {ok ? say('audit.ok', { records }) : say('audit.broken', { records, count: faults.length })}
      </p>
      {faults.length > 0 && (
        <ul>
          {faults.map(({ kind, no, message }) => (
            <li key={`${kind} ${no ?? ''}`}>
              {message} <span className="tag">{kind}</span>
            </li>
          ))}
        </ul>
      )}
      {head !== null && (
        <>
          <p className="quiet small">{say('audit.head')}</p>
          <p>
            <code className="hash">{head.hash}</code> <Copyable text={head.hash} name={say('audit.hash')} />
          </p>
        </>
      )}
    </div>
  )
}
