import { integerField, parsed, parseFields, wordField, type Parsed } from '../input.ts'

export const SESSION_MODES = ['queue', 'followup', 'interrupt'] as const
export type SessionMode = (typeof SESSION_MODES)[number]

export const DROP_POLICIES = ['old', 'new'] as const
export type DropPolicy = (typeof DROP_POLICIES)[number]

/** How a session treats what is sent to it. Each can be set for the deployment, the session and, in part, the message. */
export interface SessionRules {
  readonly mode: SessionMode
  /** How many runs may wait. Active runs do not count. */
  readonly cap: number
  readonly drop: DropPolicy
  /** 0 switches merging off. */
  readonly debounceMs: number
  readonly maxConcurrent: number
}

export const DEFAULT_SESSION_RULES: SessionRules = {
  mode: 'queue',
  cap: 10,
  drop: 'old',
  debounceMs: 800,
  maxConcurrent: 1,
}

/** Longer windows would keep a person waiting for minutes without a sign; that is a delay, and has its own field. */
export const MAX_DEBOUNCE_MS = 60_000

export const MAX_CAP = 100_000

export const MAX_SESSION_CONCURRENT = 10_000

const FIELDS = {
  mode: wordField(SESSION_MODES),
  cap: integerField({ min: 1, max: MAX_CAP }),
  drop: wordField(DROP_POLICIES),
  debounce_ms: integerField({ min: 0, max: MAX_DEBOUNCE_MS }),
  max_concurrent: integerField({ min: 1, max: MAX_SESSION_CONCURRENT }),
}

/** Reads a change of the rules. What is left out stays as `base` has it. */
export function parseSessionRules(field: string, value: unknown, base = DEFAULT_SESSION_RULES): Parsed<SessionRules> {
  const read = parseFields(field, value, FIELDS)
  if (!read.ok) return read
  const { mode, cap, drop, debounce_ms: debounceMs, max_concurrent: maxConcurrent } = read.value
  return parsed({
    mode: mode ?? base.mode,
    cap: cap ?? base.cap,
    drop: drop ?? base.drop,
    debounceMs: debounceMs ?? base.debounceMs,
    maxConcurrent: maxConcurrent ?? base.maxConcurrent,
  })
}
