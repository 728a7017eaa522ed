import type { AgentView } from '../../../src/features/agents/schema.ts'
import type { HeartbeatSearch } from './heartbeat-search.ts'

/** What every part of the page of a heartbeat knows. */
export interface HeartbeatProps {
  readonly agent: AgentView
  readonly search: HeartbeatSearch
  readonly change: (part: { readonly [Name in keyof HeartbeatSearch]?: string | null }) => void
}
