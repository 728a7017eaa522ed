import { me } from '../contract/me.ts'
import { consoleSession, signInInput, signInLink, type SignInInput } from '../contract/member.ts'
import { Refusal } from '../api/refusals.ts'
import { findConsoleSession, signOut, viewConsoleSession } from '../features/access/console-sessions.ts'
import { describeMe } from '../service/me.ts'
import type { Ports } from '../service/ports.ts'
import { createSignInLink, signIn, signInWithKey } from '../service/sign-in.ts'
import { giverOf, operation } from './handler.ts'

const entered = (ports: Ports, { token = '', key }: SignInInput): ReturnType<typeof signIn> =>
  key === undefined ? signIn(ports, token) : signInWithKey(ports, key)

/** Sign-in and sign-out of browsers, and who the caller is. */
export const signInOperations = {
  'auth.signIn': operation({
    ...{ method: 'POST', path: '/api/v1/sign-in', tag: 'sign-in', permission: 'none' },
    summary: 'Sign in with a link token or a key',
    description:
      'Give one of the two. The token works once, within ten minutes; a session by key has the permissions of the ' +
      'key and ends with it. The answer sets a cookie; send its `csrf_token` as `X-CSRF-Token` with every change.',
    http: true,
    body: signInInput,
    answers: { 200: consoleSession },
    refusals: ['UNAUTHENTICATED'],
    examples: { body: { key: 'esc_…' } },
  }).by(async ({ ports, body, http }) => {
    const opened = await entered(ports, body)
    const session = await findConsoleSession(ports, opened.cookie)
    // The member was removed at the same time.
    if (session === null) throw new Refusal('UNAUTHENTICATED', 'The session has ended; sign in again')
    http.setCookie(opened)
    return viewConsoleSession(session, opened.cookie)
  }),
  'auth.signOut': operation({
    ...{ method: 'POST', path: '/api/v1/sign-out', tag: 'sign-in', permission: 'any' },
    summary: 'Sign out this browser',
    http: true,
    answers: { 204: null },
  }).by(async ({ ports, http }) => {
    const cookie = http.cookie()
    if (cookie !== null) await signOut(ports, cookie)
    http.clearCookie()
  }),
  'auth.link': operation({
    ...{ method: 'POST', path: '/api/v1/sign-in-links', tag: 'sign-in', permission: 'admin:*' },
    summary: 'Create a one-time sign-in link, valid for ten minutes',
    description:
      'For the caller or, if the caller is a key, for the oldest owner of the org. The token goes into the ' +
      "fragment of the console's URL: `/#signin=<token>`.",
    answers: { 201: signInLink },
    refusals: ['NOT_FOUND'],
  }).by((call) => createSignInLink(call.ports, giverOf(call))),
  'auth.me': operation({
    ...{ method: 'GET', path: '/api/v1/me', tag: 'sign-in', permission: 'any' },
    rails: 'free',
    summary: 'Get the caller and its permissions',
    answers: { 200: me },
  }).by(({ ports, principal, http }) => describeMe(ports, principal, http?.cookie() ?? null)),
}
