import { queryOptions, useQuery } from '@tanstack/react-query'
import { api } from './client.ts'
import { agentList } from './queries.ts'
import { useMay } from './session.ts'

// Of its own, because a run makes what is known of its schedule old, but not its name; lists have a name in every row.
const nameOf = (id: string) =>
  queryOptions({
    queryKey: ['names', 'schedule', id],
    queryFn: async ({ signal }) => (await api.schedules.get(id, { signal })).name,
  })

/** What a schedule is called; undefined while that is not known, and null when it is gone. */
export function useScheduleName(id: string | null): string | null | undefined {
  const may = useMay('schedules:read')
  const { data, error } = useQuery({ ...nameOf(id ?? ''), enabled: id !== null && may })
  return data ?? (error === null && may ? undefined : null)
}

/** What an agent is called: its name if it has one, else its ID. */
export function useAgentName(id: string): string {
  const { data } = useQuery({ ...agentList, enabled: useMay('agents:read') })
  return data?.items.find((agent) => agent.id === id)?.name ?? id
}
