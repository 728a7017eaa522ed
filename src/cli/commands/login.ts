import type { Command } from 'commander'
import type { MeView } from '../../contract/me.ts'
import { momentText } from '../output/times.ts'
import { withLink } from '../remote/sign-in-link.ts'
import type { Desk } from '../remote/talk.ts'
import { addAction, addGet } from '../resource.ts'

/** `escapement login`: a way into the console. */
export function addLogin(command: Command, desk: Desk): void {
  addAction(desk, command, {
    call: async (talk) => withLink(talk, await talk.client.auth.link()),
    say: ({ url }) => url,
  })
}

/** `escapement whoami`: whose key is used. */
export function addWhoami(command: Command, desk: Desk): void {
  addGet<MeView>(desk, command, {
    read: (talk) => talk.client.auth.me(),
    facts: (talk, me) => [
      ['id', me.id],
      ['server', talk.url],
      ['org', `${me.org.id} (${me.org.name})`],
      ['role', me.operator ? `${me.role}, operator of the deployment` : me.role],
      ['expires', momentText(me.expires_at, talk.now) ?? 'never'],
      ['may', me.permissions.join('\n')],
    ],
  })
}
