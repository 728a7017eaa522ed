/** Whom a session talks to and what it is called, as far as its key says so: `agent:<agent>:<name>`. */
export interface SessionName {
  /** Null: the default agent of the org. */
  readonly agent: string | null
  readonly name: string
}

/** Reads the key of a session. */
export function nameOfSession(key: string): SessionName {
  const [, agent = null, name = ''] = /^agent:([^:]+)(?::(.*))?$/s.exec(key) ?? []
  return agent === null ? { agent, name: key } : { agent, name }
}

const LETTERS = 8

/** The key of a new session; without a name it gets a unique one. */
export function newSessionKey(agent: string, name: string): string {
  const given = name.trim().replaceAll(/\s+/g, '-')
  return `agent:${agent}:${given === '' ? `chat-${crypto.randomUUID().slice(0, LETTERS)}` : given}`
}
