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
