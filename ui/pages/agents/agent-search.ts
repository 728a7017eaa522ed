/** What the address of the page says: which agent is being edited. */
export interface AgentSearch {
  /** `new`, or the id of an agent. */
  readonly agent?: string
}

/** Reads the address; what makes no sense is left out. */
export function readAgentSearch({ agent }: Readonly<Record<string, unknown>>): AgentSearch {
  const given = typeof agent === 'string' || typeof agent === 'number' ? String(agent) : ''
  return given === '' ? {} : { agent: given }
}

/** What the address of the page of one agent says: what is open above it. */
export interface AgentOneSearch {
  readonly open?: 'edit' | 'test'
}

/** Reads the address; what makes no sense is left out. */
export function readAgentOneSearch({ open }: Readonly<Record<string, unknown>>): AgentOneSearch {
  return open === 'edit' || open === 'test' ? { open } : {}
}
