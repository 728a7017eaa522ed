/** A message on its way into a session. */
export interface MessageInput {
  readonly text: string
  readonly sender?: string
  readonly attachments?: readonly unknown[]
  readonly message_id?: string
  readonly sent_at?: string | number
  readonly lane?: string
  readonly mode?: string
  readonly max_concurrent?: number
  readonly debounce_ms?: number
  readonly not_before?: string | number
  readonly deadline?: string | number
  readonly parent_run_id?: string
}

export interface MessageReceipt {
  readonly run_id: string
  readonly message_id: string
  readonly state: string
  readonly position: number | null
  readonly merged_into?: string
  readonly dropped_run_id?: string
}

/** The answer to /stop, /stopall and reset. */
export interface StopAnswer {
  readonly stopped: number
  readonly drained: number
}

export interface SessionView {
  readonly key: string
  readonly org_id: string
  readonly mode: string
  readonly cap: number
  readonly drop: string
  readonly debounce_ms: number
  readonly max_concurrent: number
  readonly generation: number
  readonly tokens: number | null
  readonly context_window: number | null
  readonly active: number
  readonly waiting: number
  readonly created_at: string
}

export interface SessionPatch {
  readonly mode?: string
  readonly cap?: number
  readonly drop?: string
  readonly debounce_ms?: number
  readonly max_concurrent?: number
}
