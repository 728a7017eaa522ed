import type { OutboundChoice } from '../app.ts'
import type { Config } from '../contract/config/keys.ts'
import type { MailServer } from '../core/delivery/mail-settings.ts'
import type { Configuration } from './configuration.ts'

/** Where a server listens, once it does; and what its operator has opened. */
export interface ServerOutbound extends OutboundChoice {
  readonly listensAt: (place: { readonly host: string; readonly port: number; readonly url: string }) => void
  /** Where the result of a deferred attempt is reported; null: the server does not listen yet. */
  readonly callbackUrl: (token: string) => string | null
}

/** The mail server, when there is enough to use one. */
function mailServerOf({ host, port, secure, user, password, from }: Config['smtp']): MailServer | null {
  return host === null || from === null ? null : { host, port, secure, user, password, from }
}

/** What the configuration says about requests to the outside. */
export function outboundOf({ keeper }: Configuration): ServerOutbound {
  let listening: { readonly host: string; readonly port: number; readonly url: string } | null = null
  return {
    settings: () => {
      const { allow_hosts: allowHosts, allow_loopback: allowLoopback } = keeper.current().config.outbound
      return { allowHosts, allowLoopback }
    },
    mail: () => mailServerOf(keeper.current().config.smtp),
    channels: () => {
      const { telegram_api: telegram, slack_api: slack } = keeper.current().config.channels
      return { telegram, slack }
    },
    apiUrl: () => listening?.url ?? null,
    hookUrl: (id) => (listening === null ? null : new URL(`/api/v1/hooks/${id}`, listening.url).href),
    // Not where others reach us: what they reach there anybody may call, and other servers may share the address.
    listeners: () => (listening === null ? [] : [listening]),
    listensAt: (place) => {
      listening = place
    },
    callbackUrl: (token) => (listening === null ? null : new URL(`/api/v1/callbacks/${token}`, listening.url).href),
  }
}
