import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { PermissionName } from '../../../src/features/access/schema.ts'
import { api } from '../../api/client.ts'
import type { Incident } from '../../api/incidents.ts'
import { messageOf } from '../../api/refusal.ts'
import { toast } from '../../parts/toasts/toast-store.ts'
import type { PlainKey } from '../../texts/fill.ts'
import { useSay } from '../../texts/TextProvider.tsx'

export const SNOOZES = ['hour', 'day', 'week'] as const
type Snooze = (typeof SNOOZES)[number]

const HOUR_MS = 3_600_000
const LENGTHS: Readonly<Record<Snooze, number>> = { hour: HOUR_MS, day: 24 * HOUR_MS, week: 7 * 24 * HOUR_MS }

/** When a snooze that begins now ends. */
export const snoozeEnd = (length: Snooze, now: number): string => new Date(now + LENGTHS[length]).toISOString()

interface Action {
  readonly permission: PermissionName
  readonly run: () => void
}

/** What can be done about an incident; null where there is nothing of the kind to do. */
export interface IncidentActions {
  readonly pause: Action | null
  readonly retry: (Action & { readonly label: PlainKey }) | null
  readonly snooze: (until: string | null) => void
  /** False takes the acknowledgment back. */
  readonly acknowledge: (acknowledged: boolean) => void
  readonly isPending: boolean
}

interface Done {
  readonly message: string
  readonly undo?: () => void
}

/** Acts on an incident, and tells what came of it. */
export function useIncidentActions(incident: Incident): IncidentActions {
  const say = useSay()
  const queries = useQueryClient()
  const { mutate, isPending } = useMutation({
    mutationFn: (act: () => Promise<Done>) => act(),
    onSuccess: (done) => toast({ tone: 'done', ...done }),
    onError: (error) => toast({ tone: 'failed', message: messageOf(error, say) }),
    onSettled: () => Promise.all(TOUCHED.map((group) => queries.invalidateQueries({ queryKey: [group] }))),
  })
  const ids = incident.alerts.map(({ id }) => id)
  const mark = async (message: string, change: (id: string) => Promise<unknown>): Promise<Done> => {
    await Promise.all(ids.map(change))
    return { message }
  }
  return {
    isPending,
    pause: pauseOf(incident, { mutate, say }),
    retry: retryOf(incident, { mutate, say }),
    snooze: (until) =>
      mutate(() =>
        mark(say(until === null ? 'alerts.unsnoozed' : 'alerts.snoozed'), (id) => api.alerts.snooze(id, { until })),
      ),
    acknowledge: (acknowledged) =>
      mutate(() =>
        mark(say(acknowledged ? 'alerts.acknowledged' : 'alerts.unacknowledged'), (id) =>
          api.alerts.acknowledge(id, { acknowledged }),
        ),
      ),
  }
}

const TOUCHED = ['alerts', 'schedules', 'targets', 'heartbeat', 'runs']

interface Acting {
  readonly mutate: (act: () => Promise<Done>) => void
  readonly say: ReturnType<typeof useSay>
}

function pauseOf({ scheduleIds, kind, id, name }: Incident, { mutate, say }: Acting): Action | null {
  if (scheduleIds.length > 0) {
    const ids = [...scheduleIds]
    const undo = (): void =>
      mutate(async () => {
        await api.schedules.bulk({ action: 'enable', ids })
        return { message: say('schedules.done.enable', { count: ids.length }) }
      })
    const run = (): void =>
      mutate(async () => {
        await api.schedules.bulk({ action: 'disable', ids })
        return { message: say('schedules.done.disable', { count: ids.length }), undo }
      })
    return { permission: 'schedules:write', run }
  }
  if (kind !== 'target') return null
  const run = (): void =>
    mutate(async () => {
      await api.targets.update(id, { enabled: false })
      return { message: say('alerts.paused', { name }) }
    })
  return { permission: 'targets:write', run }
}

function retryOf({ alerts, kind, id, name }: Incident, { mutate, say }: Acting): IncidentActions['retry'] {
  const failing = alerts.filter((alert) => alert.kind === 'failures_in_a_row')
  if (failing.length > 0) {
    const run = (): void =>
      mutate(async () => {
        let [retried, left] = [0, 0]
        for (const alert of failing) {
          const answer = await api.alerts.retry(alert.id)
          retried += answer.retried
          left += answer.left
          if (answer.refused !== null) toast({ tone: 'failed', message: answer.refused })
        }
        return { message: say(left === 0 ? 'alerts.retried' : 'alerts.retriedSome', { count: retried, left }) }
      })
    return { permission: 'schedules:run', label: 'alerts.retryAll', run }
  }
  if (kind === 'target') {
    const run = (): void =>
      mutate(async () => {
        const { released } = await api.targets.enable(id)
        return { message: say('alerts.enabled', { name, count: released }) }
      })
    return { permission: 'targets:write', label: 'alerts.enable', run }
  }
  if (!alerts.some((alert) => alert.kind === 'heartbeat_failing')) return null
  const run = (): void =>
    mutate(async () => {
      await api.heartbeat.test(id)
      return { message: say('alerts.beatTested') }
    })
  return { permission: 'agents:write', label: 'alerts.testBeat', run }
}
