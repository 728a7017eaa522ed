import { parseAddress } from '../../../src/domain/outbound/address.ts'
import { checkTarget, parseTarget } from '../../../src/domain/outbound/ssrf-guard.ts'
import { redirectOf } from '../../../src/platform/outbound/send.ts'
import { asText, must, type Target } from './target.ts'

const RULES = {
  allowHosts: ['10.0.0.1:80'],
  allowLoopback: false,
  protectedServices: [],
  ownAddresses: ['192.168.0.5'],
}

/** The addresses that requests of ours go to. */
export const outbound: Target = {
  name: 'outbound address',
  words: [
    'http://',
    'https://',
    '127.1',
    '[::ffff:127.0.0.1]',
    '0x7f.1',
    '2130706433',
    '169.254.169.254',
    '@',
    '#',
    '\\',
    '.',
    'localhost',
  ],
  draw: (random) =>
    random.one([
      'https://example.com/a',
      'http://[::1]:80/',
      'http://0177.0.0.1',
      'http://localhost.',
      'http://a:b@c/',
      '//x',
      'http://１２７.0.0.1/',
    ]),
  attempt: (input) => {
    const text = asText(input)
    parseAddress(text)
    const target = parseTarget(text)
    if (!target.ok) return `refused ${target.message.slice(0, 40)}`
    const judged = checkTarget(target.value, 'webhook', RULES)
    const { hostname } = target.value.url
    // A name may begin like an address; what it leads to is judged when it is looked up.
    if (/^127\.[\d.]+$|^\[::1\]$|^0\.0\.0\.0$|^169\.254\.[\d.]+$/.test(hostname))
      must(!judged.ok, `${hostname} is not called`)
    redirectOf({
      request: { url: text, purpose: 'webhook' } as never,
      from: target.value.url,
      status: 307,
      location: text,
    })
    return judged.ok ? 'called' : 'not called'
  },
}
