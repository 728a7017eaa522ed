import type { OutboundChoice } from '../app.ts'
import type { Configuration } from './configuration.ts'

/** Where a server listens, once it does; and what its operator has opened. */
export interface ServerOutbound extends OutboundChoice {
  readonly listensAt: (place: { readonly host: string; readonly port: number; readonly url: string }) => void
  /** Where the result of a deferred attempt is reported; null: the server does not listen yet. */
  readonly callbackUrl: (token: string) => string | null
}

/** What the configuration says about requests to the outside. */
export function outboundOf({ keeper }: Configuration): ServerOutbound {
  let listening: { readonly host: string; readonly port: number; readonly url: string } | null = null
  return {
    settings: () => {
      const { allow_hosts: allowHosts, allow_loopback: allowLoopback } = keeper.current().config.outbound
      return { allowHosts, allowLoopback }
    },
    // Not where others reach us: what they reach there anybody may call, and other servers may share the address.
    listeners: () => (listening === null ? [] : [listening]),
    listensAt: (place) => {
      listening = place
    },
    callbackUrl: (token) => (listening === null ? null : new URL(`/api/v1/callbacks/${token}`, listening.url).href),
  }
}
