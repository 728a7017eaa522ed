import type { signInOperations } from '../../contract/operations/sign-in.ts'
import type { SignInInput } from '../../contract/member.ts'
import { Refusal } from '../../contract/refusals.ts'
import { findConsoleSession, signOut, viewConsoleSession } from '../../service/console-sessions.ts'
import { describeMe } from '../../service/me.ts'
import type { Ports } from '../../service/ports.ts'
import { createSignInLink, signIn, signInWithKey } from '../../service/sign-in.ts'
import type { HandlersOf } from '../call.ts'
import { clearConsoleCookie, consoleCookie, setConsoleCookie } from '../console-cookie.ts'

const entered = (ports: Ports, { token = '', key }: SignInInput): ReturnType<typeof signIn> =>
  key === undefined ? signIn(ports, token) : signInWithKey(ports, key)

/** How a browser gets in and out, and who somebody is. */
export const signInHandlers: HandlersOf<typeof signInOperations> = {
  'auth.signIn': async ({ ctx, ports, body, reply }) => {
    const opened = await entered(ports, body)
    const session = await findConsoleSession(ports, opened.cookie)
    // Somebody was shown out in the very moment they came in.
    if (session === null) throw new Refusal('UNAUTHENTICATED', 'The session has ended; sign in again')
    setConsoleCookie(ctx, reply, opened)
    return viewConsoleSession(session, opened.cookie)
  },
  'auth.signOut': async ({ ctx, ports, request, reply }) => {
    const cookie = consoleCookie(request)
    if (cookie !== null) {
      await signOut(ports, cookie)
      ctx.forgetSession(cookie)
    }
    clearConsoleCookie(ctx, reply)
    return undefined
  },
  'auth.link': ({ ports, caller, principal }) => createSignInLink(ports, { orgId: caller.orgId, principal }),
  'auth.me': ({ ports, principal, request }) => describeMe(ports, principal, consoleCookie(request)),
}
