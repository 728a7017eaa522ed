import { useRouter } from '@tanstack/react-router'

/** Where things are shown; undefined where the console has no page for them. */
export interface Doors {
  readonly schedule: (id: string) => string | undefined
  readonly run: (id: string) => string | undefined
  readonly agent: (id: string) => string | undefined
  /** Where one talks: the key of a session. */
  readonly session: (key: string) => string | undefined
}

/** Every number is a door: the addresses of the pages of single things. */
export function useDoors(): Doors {
  const { routesByPath } = useRouter()
  const door = (path: string, id: string, name = 'id'): string | undefined =>
    `${path}/$${name}` in routesByPath ? `${path}/${encodeURIComponent(id)}` : undefined
  return {
    schedule: (id) => door('/automation/schedules', id),
    run: (id) => door('/automation/runs', id),
    agent: (id) => door('/agents', id),
    session: (key) => door('/chat', key, 'key'),
  }
}
