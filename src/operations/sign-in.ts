import { me } from '../contract/me.ts'
import { consoleSession, signInInput, signInLink } from '../contract/member.ts'
import { operation } from '../contract/operation.ts'

/** How a browser gets in and out, and who somebody is. */
export const signInOperations = {
  'auth.signIn': operation({
    ...{ method: 'POST', path: '/api/v1/sign-in', tag: 'sign-in', permission: 'none' },
    summary: 'Signs a browser in with the token of a link, or with a key',
    description:
      'One of the two. The token works once, within ten minutes; a session by key may do what the key may, and ends with ' +
      'it. The answer sets a cookie; its `csrf_token` goes back as ' +
      '`X-CSRF-Token` with everything that changes something.',
    body: signInInput,
    answers: { 200: consoleSession },
    refusals: ['UNAUTHENTICATED'],
    examples: { body: { key: 'esc_…' } },
  }),
  'auth.signOut': operation({
    ...{ method: 'POST', path: '/api/v1/sign-out', tag: 'sign-in', permission: 'any' },
    summary: 'Signs this browser out',
    answers: { 204: null },
  }),
  'auth.link': operation({
    ...{ method: 'POST', path: '/api/v1/sign-in-links', tag: 'sign-in', permission: 'admin:*' },
    summary: 'Makes a link that signs in, once, within ten minutes',
    description:
      'For whoever asks, or, when a key asks, for the oldest owner of the org. The token goes into the fragment of the ' +
      'address of the console: `/#signin=<token>`.',
    answers: { 201: signInLink },
    refusals: ['NOT_FOUND'],
  }),
  'auth.me': operation({
    ...{ method: 'GET', path: '/api/v1/me', tag: 'sign-in', permission: 'any' },
    rails: 'free',
    summary: 'Says who asks, and what they may do',
    answers: { 200: me },
  }),
}
