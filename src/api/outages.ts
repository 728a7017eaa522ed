// Kept apart from the schemas because the console imports these words and loads no schema.

/**
 * `engine`: no node is running, and active runs are lost. `stall`: nothing fires, and active runs continue. `agent`:
 * attempts fail, or no worker takes them.
 */
export const OUTAGE_KINDS = ['engine', 'stall', 'agent'] as const

export type OutageKind = (typeof OUTAGE_KINDS)[number]

/** How attempts fail while their agent is down. `offline`: they wait instead. */
export const OUTAGE_EFFECTS = ['network', 'executor_http_5xx', 'offline'] as const

export type OutageEffect = (typeof OUTAGE_EFFECTS)[number]
