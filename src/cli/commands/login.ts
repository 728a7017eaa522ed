import type { Command } from 'commander'
import { momentText } from '../output/times.ts'
import { showDone, showOne } from '../remote/show.ts'
import { signInLink } from '../remote/sign-in-link.ts'
import { remote, type Desk } from '../remote/talk.ts'
import { commandOf } from './group.ts'

/** `escapement login` and `escapement whoami`: a way into the console, and who one is. */
export function addLogin(program: Command, desk: Desk): void {
  remote(desk, commandOf(program, 'login', 'make a link that signs in at the console, once, within ten minutes'), {
    work: async (talk) => {
      const link = await talk.client.auth.link()
      const url = await signInLink(talk, link.token)
      await showDone(talk, { ...link, url }, url)
    },
  })
  remote(desk, commandOf(program, 'whoami', 'say whose key is used, and what it may do'), {
    work: async (talk) => {
      const me = await talk.client.auth.me()
      await showOne(talk, me, () => [
        ['id', me.id],
        ['server', talk.url],
        ['org', `${me.org.id} (${me.org.name})`],
        ['role', me.operator ? `${me.role}, operator of the deployment` : me.role],
        ['expires', momentText(me.expires_at, talk.terminal.now()) ?? 'never'],
        ['may', me.permissions.join('\n')],
      ])
    },
  })
}
