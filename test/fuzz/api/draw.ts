import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import type { OperationSpec } from '../../../src/api/operation.ts'
import { requestsOf } from '../../server/contract/exchange.ts'
import type { Drawn } from '../../server/contract/hostile.ts'
import { KEYS } from '../../server/support.ts'
import type { Random } from '../../simulation/random.ts'
import { mutate } from '../mutate.ts'
import { ODD_TEXTS } from '../odd-values.ts'
import { burdened } from './burdens.ts'
import { CALLED, knownMarks, PATH_TWISTS, type Step, type Twist } from './step.ts'

/** Made once: the generators of an operation look at its whole schema. */
const REQUESTS = new Map<string, fc.Arbitrary<Drawn>>()

function drawnOf(id: string, spec: OperationSpec, random: Random): Drawn {
  const requests = REQUESTS.get(id) ?? requestsOf(id, spec)
  REQUESTS.set(id, requests)
  const [drawn] = fc.sample(requests, { numRuns: 1, seed: random.int(0, 2 ** 31 - 1) })
  if (drawn === undefined) throw new Error(`nothing was drawn for ${id}`)
  return drawn
}

/** A request that nothing was done to, as far as one is drawn in a few attempts. */
export function drawMeant([id, spec]: (typeof CALLED)[number], random: Random): Drawn {
  for (let attempts = 0; attempts < 20; attempts += 1) {
    const drawn = drawnOf(id, spec, random)
    if (drawn.kind === 'meant') return drawn
  }
  return drawnOf(id, spec, random)
}

/** Of these only what HTTP lets through: a header is of Latin-1 without controls. */
const HEADER_TEXTS = [
  ...ODD_TEXTS.filter((text) => /^[\t\x20-\x7e\x80-\xff]*$/.test(text)),
  ...['x'.repeat(4_000), '5', '"5"', 'W/"5"', '"1","2"', '*', 'é', 'a,b;c=d', '00-zz-zz-00', '7-1', '-1'],
]

const HEADER_NAMES = [
  ...[
    'accept',
    'accept-encoding',
    'accept-language',
    'content-encoding',
    'content-language',
    'traceparent',
    'tracestate',
  ],
  ...[
    'if-match',
    'if-none-match',
    'if-modified-since',
    'if-unmodified-since',
    'range',
    'expect',
    'te',
    'last-event-id',
  ],
  ...[
    'x-request-id',
    'x-forwarded-for',
    'x-forwarded-host',
    'forwarded',
    'x-http-method-override',
    'cookie',
    'x-csrf-token',
  ],
  ...[
    'idempotency-key',
    'origin',
    'host',
    'authorization',
    'content-type',
    'prefer',
    'webhook-id',
    'webhook-signature',
  ],
]

const TYPES = [
  ...[
    'application/json; charset=utf-16',
    'application/json;charset=latin1',
    'application/JSON',
    'application/problem+json',
  ],
  ...['application/json; boundary=x', 'text/json', 'application/json, text/plain', ';', 'application/x-ndjson', ''],
]

function drawTwist(random: Random): Twist {
  switch (random.int(0, 4)) {
    case 0:
      return { kind: 'method', method: random.one(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']) }
    case 1: {
      const names = Array.from({ length: random.int(1, 3) }, () => random.one(HEADER_NAMES))
      return { kind: 'headers', headers: Object.fromEntries(names.map((name) => [name, random.one(HEADER_TEXTS)])) }
    }
    case 2:
      return { kind: 'path', how: random.one(PATH_TWISTS) }
    case 3: {
      const text = '{"name":"x","every_seconds":60}'
      const bytes = random.one([
        Buffer.from(text, 'utf16le'),
        gzipSync(text),
        Buffer.from([0xef, 0xbb, 0xbf, 0x7b, 0x7d]),
      ])
      return { kind: 'bytes', base64: bytes.toString('base64'), type: random.one(TYPES) }
    }
    default:
      return { kind: 'at once', times: random.one([2, 3, 5, 20]) }
  }
}

/** Who asks when it is not the one who may. */
const ASKERS = [...KEYS.keys(), null, 'nobody', 'x'.repeat(500)]

/** A body with something changed anywhere in it, not only at its top. */
function mutated(drawn: Drawn, random: Random): Drawn {
  const { body } = drawn
  if (drawn.raw !== undefined || typeof body !== 'object' || body === null) return drawn
  const changed: unknown = JSON.parse(knownMarks(JSON.stringify(mutate(body, random, Object.keys(body)))))
  return { ...drawn, kind: 'mutated', refused: false, body: changed }
}

/** A request of an operation: meant, or harmed, or burdened, or twisted, or asked by another caller. */
export function drawStep(random: Random, called: readonly (typeof CALLED)[number][] = CALLED): Step {
  const [operation, spec] = random.one(called)
  const drawn = drawnOf(operation, spec, random)
  const kind = random.int(0, 9)
  // They take a hundred times as long as others.
  if (random.chance(0.02)) return { operation, drawn: burdened(drawn, random) }
  if (kind <= 4) return { operation, drawn }
  if (kind <= 6) return { operation, drawn: mutated(drawn, random) }
  if (kind === 7) return { operation, drawn, as: random.one(ASKERS) }
  return { operation, drawn, twist: drawTwist(random) }
}

/** What was done, in one word, for counting. */
export const kindOf = ({ drawn, twist, as, borrow }: Step): string =>
  borrow !== undefined
    ? `borrowed ${borrow.isForeign === true ? 'foreign ' : ''}${borrow.what}`
    : twist === undefined
      ? as === undefined
        ? drawn.kind
        : 'asked by another'
      : `twisted ${twist.kind}`
