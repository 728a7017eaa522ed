import type { Command } from 'commander'
import { momentText } from '../output/times.ts'
import { showDone, showOne } from '../remote/show.ts'
import { signInLink } from '../remote/sign-in-link.ts'
import { remote, type Desk } from '../remote/talk.ts'

/** `escapement login`: a way into the console. */
export function addLogin(command: Command, desk: Desk): void {
  remote(desk, command, {
    work: async (talk) => {
      const link = await talk.client.auth.link()
      const url = await signInLink(talk, link.token)
      await showDone(talk, { ...link, url }, url)
    },
  })
}

/** `escapement whoami`: whose key is used. */
export function addWhoami(command: Command, desk: Desk): void {
  remote(desk, command, {
    work: async (talk) => {
      const me = await talk.client.auth.me()
      await showOne(talk, me, () => [
        ['id', me.id],
        ['server', talk.url],
        ['org', `${me.org.id} (${me.org.name})`],
        ['role', me.operator ? `${me.role}, operator of the deployment` : me.role],
        ['expires', momentText(me.expires_at, talk.now) ?? 'never'],
        ['may', me.permissions.join('\n')],
      ])
    },
  })
}
