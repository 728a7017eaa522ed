import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { PermissionName } from '../../../src/features/access/schema.ts'
import type { ExplainAction, ExplainNext } from '../../../src/features/explain/schema.ts'
import { api } from '../../api/client.ts'
import { useMay } from '../../api/session.ts'
import { useAct } from '../../api/use-act.ts'
import { CATALOGUE } from '../../texts/catalogue.ts'
import type { PlainKey, Say } from '../../texts/fill.ts'
import { useSay, useTexts } from '../../texts/TextProvider.tsx'
import { withOwnTimes } from '../../time/zone.ts'
import './explain.css'

/** What follows by itself, and what can be done: a button that does it, or a link to where it is done. */
export function Next({ next }: { readonly next: ExplainNext }): ReactNode {
  const { locale } = useTexts()
  return (
    <div className="nexts">
      {next.sentence !== '' && <p>{withOwnTimes(next.sentence, locale)}</p>}
      {next.actions.length > 0 && (
        <ul>
          {next.actions.map((action) => (
            <li key={action.command}>
              <Action action={action} />
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

type ActionName = ExplainAction['action']

/** What a button does with the object of its action, and the permission for it. */
const DEEDS: Readonly<
  Partial<Record<ActionName, { readonly may: PermissionName; readonly act: (id: string) => Promise<unknown> }>>
> = {
  cancel: { may: 'runs:write', act: (id) => api.runs.cancel(id) },
  retry: { may: 'runs:write', act: (id) => api.runs.retry(id, { force: true }) },
  run_now: { may: 'schedules:run', act: (id) => api.schedules.runNow(id) },
  enable: { may: 'schedules:write', act: (id) => api.schedules.enable(id) },
  stop_session: { may: 'sessions:write', act: (key) => api.sessions.stop(key) },
  enable_target: { may: 'targets:write', act: (id) => api.targets.enable(id) },
  retry_delivery: { may: 'targets:write', act: (id) => api.deliveries.retry(id) },
}

/** Where the other actions are done. */
const PLACES: Readonly<Partial<Record<ActionName, (id: string) => string>>> = {
  change_schedule: (id) => `/automation/schedules/${encodeURIComponent(id)}?edit=${encodeURIComponent(id)}`,
  change_agent: () => '/agents',
  grow_lane: () => '/automation/queue',
  see_workers: () => '/operations/nodes',
  see_budget: () => '/settings/budgets',
  see_provider: () => '/settings/providers',
  change_session: (key) => `/chat/${encodeURIComponent(key)}`,
}

/** `/api/v1/runs/<id>/cancel` is about `<id>`. */
const objectOf = ({ path }: ExplainAction): string => decodeURIComponent(path.split('/')[4] ?? '')

function Action({ action }: { readonly action: ExplainAction }): ReactNode {
  const say = useSay()
  const name = nameOf(say, action)
  const deed = DEEDS[action.action]
  const place = action.action === 'ask_moment' ? whyHref(action) : PLACES[action.action]?.(objectOf(action))
  if (deed !== undefined) return <Deed {...{ action, name, deed }} />
  if (place === undefined) return <code aria-label={say('explain.command')}>{action.command}</code>
  return (
    <Link to={place} title={action.command}>
      {textOr(say, `explain.open.${action.action}`, name)}
    </Link>
  )
}

/** `explain?at=…` of the API is `why?q=…` of the console. */
const whyHref = ({ path }: ExplainAction): string => `/automation/why?q=${path.split('at=')[1] ?? ''}`

const textOr = (say: Say, key: string, otherwise: string): string =>
  key in CATALOGUE.en ? say(key as PlainKey) : otherwise

const nameOf = (say: Say, { action, sentence }: ExplainAction): string => textOr(say, `explain.can.${action}`, sentence)

interface DeedProps {
  readonly action: ExplainAction
  readonly name: string
  readonly deed: NonNullable<(typeof DEEDS)[ActionName]>
}

function Deed({ action, name, deed }: DeedProps): ReactNode {
  const say = useSay()
  const may = useMay(deed.may)
  const { run, isPending } = useAct({
    act: () => deed.act(objectOf(action)),
    touches: [['runs'], ['schedules'], ['explain'], ['timeline'], ['targets'], ['deliveries']],
    told: () => ({ tone: 'done', message: say('explain.done', { action: name }) }),
  })
  return (
    <Button
      size="xs"
      variant="default"
      {...{ disabled: !may, loading: isPending, title: action.command }}
      onClick={() => run(undefined)}
    >
      {name}
    </Button>
  )
}
