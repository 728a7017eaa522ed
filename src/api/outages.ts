// Apart from the schemas, because the console shows these words and loads no schema.

/**
 * `engine`: no node works, and what runs is lost. `stall`: nothing fires, and what runs goes on. `agent`: attempts fail,
 * or nobody takes them.
 */
export const OUTAGE_KINDS = ['engine', 'stall', 'agent'] as const

export type OutageKind = (typeof OUTAGE_KINDS)[number]

/** What attempts meet while their agent is out. `offline`: they wait instead. */
export const OUTAGE_EFFECTS = ['network', 'executor_http_5xx', 'offline'] as const

export type OutageEffect = (typeof OUTAGE_EFFECTS)[number]
