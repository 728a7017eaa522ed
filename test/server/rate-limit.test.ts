import { describe, expect, it } from 'vitest'
import { OPERATOR_ORG, type Principal } from '../../src/domain/access/access.ts'
import { principalId } from '../../src/domain/ids.ts'
import { Refusal } from '../../src/api/refusals.ts'
import {
  bodyBytes,
  chargeAnswer,
  chargeRequest,
  createRateLimit,
  type Charging,
} from '../../src/server/http/rate-limit.ts'
import { isWorkerCall } from '../../src/operations/perform.ts'
import { OPERATIONS } from '../../src/operations/table.ts'
import { aPrincipal } from './support.ts'

interface Situation {
  readonly stated: number | null
  readonly burst?: number
  readonly hasManyOrgs: boolean
  readonly nowMs?: () => number
}

function chargingIn({ stated, burst, hasManyOrgs, nowMs = () => 0 }: Situation): Charging {
  const settings = { ratePerSecond: stated, rateBurst: burst ?? null } as ReturnType<Charging['ctx']['settings']>
  return { ctx: { settings: () => settings, counter: nowMs, hasManyOrgs: () => hasManyOrgs }, limit: createRateLimit() }
}

/** How many requests of the principal are answered before one is refused, looked at up to 3,000. */
function answered(charging: Charging, principal: Principal): number {
  for (let asked = 0; asked < 3_000; asked += 1)
    try {
      chargeRequest(charging, principal)
    } catch (error) {
      if (error instanceof Refusal && error.code === 'RATE_LIMITED') return asked
      throw error
    }
  return Infinity
}

const TENANT = aPrincipal('member')
const OPERATOR = aPrincipal('owner', { id: principalId('key_operator'), orgId: OPERATOR_ORG })

describe('how many requests a key may make at once', () => {
  it.each([
    ['nothing is set and there is one org', { stated: null, hasManyOrgs: false }, Infinity, Infinity],
    ['nothing is set and there are several orgs', { stated: null, hasManyOrgs: true }, 1_000, Infinity],
    ['only a burst is set', { stated: null, burst: 5, hasManyOrgs: true }, 5, Infinity],
    ['a burst is set for one org alone', { stated: null, burst: 5, hasManyOrgs: false }, Infinity, Infinity],
    ['it is switched off', { stated: 0, hasManyOrgs: true }, Infinity, Infinity],
    ['a rate is set and there is one org', { stated: 7, hasManyOrgs: false }, 7, 7],
    ['a rate is set and there are several orgs', { stated: 7, hasManyOrgs: true }, 7, Infinity],
    ['a rate and a burst are set', { stated: 7, burst: 20, hasManyOrgs: true }, 20, Infinity],
  ] as const)('when %s', (_, situation, tenant, operator) => {
    expect(answered(chargingIn(situation), TENANT)).toBe(tenant)
    expect(answered(chargingIn(situation), OPERATOR)).toBe(operator)
  })

  it('grows again by 200 a second, and the refusal says when', () => {
    let now = 0
    const charging = chargingIn({ stated: null, hasManyOrgs: true, nowMs: () => now })
    expect(answered(charging, TENANT)).toBe(1_000)
    expect(() => chargeRequest(charging, TENANT)).toThrow(expect.objectContaining({ retryAfterMs: 5 }))
    now = 1_000
    expect(answered(charging, TENANT)).toBe(200)
    expect(answered(charging, aPrincipal('member', { id: principalId('key_another') }))).toBe(1_000)
  })
})

describe('large bodies and answers', () => {
  const KIB = 1_024

  it('count as one request more for each 16 KiB', () => {
    const charging = chargingIn({ stated: null, hasManyOrgs: true })
    chargeRequest(charging, TENANT, 160 * KIB)
    chargeAnswer(charging, TENANT, 1_600 * KIB)
    expect(answered(charging, TENANT)).toBe(1_000 - 1 - 10 - 100)
  })

  it('are paid for later, but never for longer than a burst takes to fill', () => {
    let now = 0
    const charging = chargingIn({ stated: null, hasManyOrgs: true, nowMs: () => now })
    chargeAnswer(charging, TENANT, 1_024 * 1_024 * KIB)
    expect(answered(charging, TENANT)).toBe(0)
    now = 5_010
    expect(answered(charging, TENANT)).toBe(2)
  })

  it.each([
    ['no body', { method: 'GET', headers: {} }, 0],
    ['a stated length', { method: 'POST', headers: { 'content-length': '70000' } }, 70_000],
    ['a length above the largest body', { method: 'POST', headers: { 'content-length': '9999999' } }, 1_000_000],
    ['no stated length', { method: 'POST', headers: { 'transfer-encoding': 'chunked' } }, 1_000_000],
    ['a length that is no number', { method: 'POST', headers: { 'content-length': 'x' } }, 0],
  ])('are known by what the head of a request says: %s', (_, request, bytes) => {
    expect(bodyBytes(request, 1_000_000)).toBe(bytes)
  })
})

describe('a request that is one too many', () => {
  it('is refused after a pause, and everything else at once', async () => {
    const { refuse } = createRateLimit()
    const told: string[] = []
    const refused = new Promise<void>((resolve) => {
      refuse(new Refusal('RATE_LIMITED', 'too many', { retryAfterMs: 5 }), ({ message }) => {
        told.push(message)
        resolve()
      })
    })
    refuse(new Refusal('FORBIDDEN', 'not yours'), ({ message }) => told.push(message))
    await refused
    expect(told).toEqual(['not yours', 'too many'])
  })

  it('is refused at once when a thousand others wait', () => {
    const { refuse } = createRateLimit()
    let told = 0
    for (let count = 0; count < 1_001; count += 1) refuse(new Refusal('RATE_LIMITED', 'too many'), () => (told += 1))
    expect(told).toBe(1)
  })
})

describe('what workers and callbacks ask', () => {
  it('is exempt, and nothing else that needs a key', () => {
    const all = Object.entries(OPERATIONS)
    const exempt = all.filter(([, spec]) => isWorkerCall(spec) || spec.permission === 'none').map(([id]) => id)
    expect(exempt.filter((id) => id.startsWith('worker.')).sort()).toEqual(
      ['worker.claim', 'worker.complete', 'worker.events', 'worker.renew', 'worker.start'].sort(),
    )
    expect(exempt).toContain('callbacks.settle')
    expect(exempt.filter((id) => /^(schedules|sessions|runs|tasks|agents|keys|workers)\./.test(id))).toEqual([])
  })
})
