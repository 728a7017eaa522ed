import { Menu } from '@mantine/core'
import { IconPlayerPause, IconPlayerPlay, IconSend } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { TargetInput, TargetView } from '../../../src/features/targets/schema.ts'
import { targetList } from '../../api/admin-queries.ts'
import { api } from '../../api/client.ts'
import { useAct } from '../../api/use-act.ts'
import { changedOf } from '../../forms/field.ts'
import { FormDrawer } from '../../forms/FormDrawer.tsx'
import { Permitted } from '../../parts/Permitted.tsx'
import { useSay } from '../../texts/TextProvider.tsx'
import { SigningSecret } from './SigningSecret.tsx'
import { useTargetColumns } from './target-columns.tsx'
import { targetFields } from './target-fields.ts'
import { ThingList } from '../../forms/ThingList.tsx'
import { useOpen } from '../../forms/use-open.ts'

const NONE: readonly TargetView[] = []
const TOUCHES = [['targets'], ['deliveries']]

/** Where results go: made, tried out, switched on and off. */
export function TargetsSection(): ReactNode {
  const say = useSay()
  const list = useQuery(targetList)
  const { open, show } = useOpen()
  const rows = list.data?.items ?? NONE
  const edited = rows.find(({ id }) => id === open)
  const form = { touches: TOUCHES, saved: say('targets.saved'), close: () => show(null) }
  return (
    <>
      <ThingList<TargetView>
        {...{ title: say('settings.targets'), hint: say('targets.hint'), list, rows, show, touches: TOUCHES }}
        {...{ columns: useTargetColumns(), idOf: ({ id }) => id, nameOf: ({ name }) => name }}
        {...{ permission: 'targets:write', create: say('targets.new') }}
        empty={{
          icon: <IconSend size={22} aria-hidden />,
          title: say('targets.empty.title'),
          text: say('targets.empty.text'),
        }}
        removal={{
          word: say('action.delete'),
          title: ({ name }) => say('targets.delete.title', { name }),
          text: say('targets.delete.text'),
          act: ({ id }) => api.targets.delete(id),
          done: ({ name }) => say('targets.deleted', { name }),
        }}
        more={(target) => <Switch target={target} />}
      />
      {open === 'new' && (
        <FormDrawer
          {...{ ...form, title: say('targets.new'), fields: targetFields(true), thing: { kind: 'webhook' } }}
          save={(body) => api.targets.create(withoutHalves(body) as unknown as TargetInput)}
        />
      )}
      {edited !== undefined && (
        <FormDrawer
          {...{ ...form, key: edited.id, title: edited.name, fields: targetFields(false), thing: edited }}
          save={(body) => api.targets.update(edited.id, patchOf(body, edited))}
        />
      )}
      <SigningSecret />
    </>
  )
}

type Body = Readonly<Record<string, unknown>>

/** Settings of which nothing was said are none, and an address that was left empty is none either. */
function withoutHalves({ settings, ...body }: Body): Body {
  const said = Object.entries((settings ?? {}) as Body).filter(([, value]) => !Array.isArray(value) || value.length > 0)
  return { ...body, ...(said.length === 0 ? {} : { settings: Object.fromEntries(said) }) }
}

/** What has changed. Quiet hours that were emptied are taken back. */
function patchOf({ kind: _, ...body }: Body, target: TargetView): Body {
  return changedOf(withoutHalves({ ...body, quiet_hours: body['quiet_hours'] ?? null }), { ...target })
}

function Switch({ target }: { readonly target: TargetView }): ReactNode {
  const say = useSay()
  const { id, name, enabled } = target
  const flip = useAct({
    act: async (): Promise<number> => {
      if (enabled) await api.targets.update(id, { enabled: false })
      return enabled ? 0 : (await api.targets.enable(id)).released
    },
    touches: [...TOUCHES, ['alerts'], ['schedules']],
    told: (count) => ({
      tone: 'done',
      message: enabled ? say('targets.off', { name }) : say('targets.on', { name, count }),
    }),
  })
  const Icon = enabled ? IconPlayerPause : IconPlayerPlay
  return (
    <Permitted permission="targets:write">
      <Menu.Item leftSection={<Icon size={15} aria-hidden />} onClick={() => flip.run(undefined)}>
        {say(enabled ? 'action.disable' : 'action.enable')}
      </Menu.Item>
    </Permitted>
  )
}
