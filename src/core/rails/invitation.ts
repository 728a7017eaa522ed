/** What an attempt of an agent with `self_service` is handed, so that it can make things by itself while it lasts. */
export interface Invitation {
  /** Where to ask; null: this program listens nowhere. */
  readonly api_url: string | null
  readonly mcp_url: string | null
  /** Works while the attempt is the current one of its run and in flight, and is worth nothing afterwards. */
  readonly key: string
  /** When the attempt must be over. */
  readonly expires_at: string | null
}
