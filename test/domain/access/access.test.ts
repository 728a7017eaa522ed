import { describe, expect, it } from 'vitest'
import {
  decideAccess,
  effectivePermissions,
  isGrantable,
  OPERATOR_ORG,
  parsePermissions,
  PERMISSIONS,
  ROLES,
  type AccessRequest,
  type Permission,
  type Principal,
  type Role,
} from '../../../src/domain/access/access.ts'
import { orgId, principalId } from '../../../src/domain/ids.ts'
import { instant } from '../../../src/domain/instant.ts'
import { expectExplained } from '../../support/why.ts'

const noon = instant(Date.parse('2026-01-15T12:00:00Z'))
const acme = orgId('org_acme')
const all = Object.keys(PERMISSIONS) as readonly Permission[]

function aPrincipal(overrides: Partial<Principal> = {}): Principal {
  return {
    id: principalId('key_1'),
    orgId: acme,
    role: 'owner',
    scopes: null,
    expiresAt: null,
    revokedAt: null,
    ...overrides,
  }
}

function decide(principal: Principal, permission: Permission, overrides: Partial<AccessRequest> = {}) {
  const decision = decideAccess(principal, { permission, orgId: principal.orgId, now: noon, ...overrides })
  expectExplained(decision.why)
  return decision
}

describe('a key with schedules:read only', () => {
  const key = aPrincipal({ scopes: ['schedules:read'] })

  it('reads', () => {
    expect(decide(key, 'schedules:read').kind).toBe('granted')
  })

  it.each(['schedules:write', 'schedules:run', 'schedules:delete'] as const)('is denied %s with 403', (permission) => {
    expect(decide(key, permission)).toMatchObject({ kind: 'denied', status: 403, why: { reason: 'forbidden' } })
  })
})

describe("another org's object", () => {
  it('is hidden with 404 from everybody, whatever they may do', () => {
    const roles: readonly Role[] = ['owner', 'admin', 'member', 'viewer']
    for (const role of roles)
      for (const permission of all)
        expect(decide(aPrincipal({ role }), permission, { orgId: orgId('org_b') })).toMatchObject({
          kind: 'hidden',
          status: 404,
          why: { reason: 'other_org' },
        })
  })

  it('is hidden from the operator too', () => {
    expect(decide(aPrincipal({ orgId: OPERATOR_ORG }), 'runs:read', { orgId: acme }).kind).toBe('hidden')
  })
})

describe('a role', () => {
  it.each([
    ['owner', all],
    ['admin', all],
    [
      'member',
      [
        ...all.filter((it) => it.endsWith(':read')),
        'schedules:write',
        'schedules:run',
        'tasks:write',
        'sessions:write',
      ],
    ],
    ['viewer', all.filter((it) => it.endsWith(':read'))],
  ] as const)('of %s has its permissions and no others', (role, expected) => {
    expect([...effectivePermissions(aPrincipal({ role }))].sort()).toEqual([...expected].sort())
  })

  it('is never made larger by the scopes of a key', () => {
    const key = aPrincipal({ role: 'viewer', scopes: ['*'] })
    expect(effectivePermissions(key)).toEqual(effectivePermissions(aPrincipal({ role: 'viewer' })))
    expect(decide(key, 'tasks:write').kind).toBe('denied')
  })

  it('names only permissions that exist', () => {
    for (const grants of Object.values(ROLES))
      for (const grant of grants) expect(grant === '*' || grant in PERMISSIONS).toBe(true)
  })
})

describe('a scope with a star', () => {
  it('covers its group and nothing else', () => {
    const key = aPrincipal({ scopes: ['targets:*'] })
    expect(effectivePermissions(key)).toEqual(['targets:read', 'targets:write'])
  })

  it('of everything covers everything', () => {
    expect(effectivePermissions(aPrincipal({ scopes: ['*'] }))).toEqual(all)
  })
})

describe('a key that is over', () => {
  it('is refused from the moment it expires', () => {
    const key = aPrincipal({ expiresAt: noon })
    expect(decide(key, 'runs:read', { now: instant(noon - 1) }).kind).toBe('granted')
    expect(decide(key, 'runs:read')).toMatchObject({ kind: 'refused', status: 401 })
  })

  it('is refused once revoked, also for the objects of others', () => {
    const key = aPrincipal({ revokedAt: instant(noon - 1) })
    expect(decide(key, 'runs:read')).toMatchObject({ kind: 'refused', status: 401 })
    expect(decide(key, 'runs:read', { orgId: orgId('org_b') })).toMatchObject({ kind: 'refused', status: 401 })
  })
})

describe('what belongs to the deployment', () => {
  const ask = { operatorOnly: true } as const

  it.each(['owner', 'admin'] as const)('is changed by the %s of the operator org', (role) => {
    expect(decide(aPrincipal({ orgId: OPERATOR_ORG, role }), 'admin:*', ask).kind).toBe('granted')
  })

  it('may lie with any org: an operator changes the others too', () => {
    expect(decide(aPrincipal({ orgId: OPERATOR_ORG }), 'admin:*', { ...ask, orgId: acme }).kind).toBe('granted')
  })

  it('is changed by nobody else', () => {
    expect(decide(aPrincipal({ role: 'owner' }), 'admin:*', ask)).toMatchObject({ kind: 'denied', status: 403 })
    expect(decide(aPrincipal({ orgId: OPERATOR_ORG, role: 'member' }), 'admin:*', ask).kind).toBe('denied')
    expect(decide(aPrincipal({ orgId: OPERATOR_ORG, scopes: ['runs:*'] }), 'admin:*', ask).kind).toBe('denied')
    // A permission is not enough: the role counts too.
    expect(decide(aPrincipal({ orgId: OPERATOR_ORG, role: 'member' }), 'tasks:write', ask)).toMatchObject({
      kind: 'denied',
      why: { rule: 'access.role' },
    })
  })
})

describe('approving', () => {
  it.each([
    ['owner', 'granted'],
    ['admin', 'granted'],
    ['member', 'denied'],
    ['viewer', 'denied'],
  ] as const)('by %s is %s', (role, kind) => {
    expect(decide(aPrincipal({ role }), 'schedules:write', { approving: true }).kind).toBe(kind)
  })
})

describe('handing out a key', () => {
  const giver = aPrincipal({ role: 'admin', scopes: ['keys:*', 'runs:read'] })

  it('is possible within what the giver has', () => {
    expect(isGrantable(giver, { role: 'viewer', scopes: ['runs:read'] })).toBe(true)
    expect(isGrantable(aPrincipal({ role: 'admin' }), { role: 'admin', scopes: null })).toBe(true)
    expect(isGrantable(aPrincipal(), { role: 'owner', scopes: null })).toBe(true)
  })

  it('is not possible beyond it', () => {
    expect(isGrantable(giver, { role: 'viewer', scopes: null })).toBe(false)
    expect(isGrantable(giver, { role: 'admin', scopes: ['tasks:write'] })).toBe(false)
    expect(isGrantable(aPrincipal({ role: 'admin' }), { role: 'owner', scopes: ['runs:read'] })).toBe(false)
  })
})

describe('a list of permissions', () => {
  it('is read in any case, each one once', () => {
    expect(parsePermissions('scopes', ['Schedules:Read', ' targets:* ', '*', 'admin:*', 'targets:*'])).toEqual({
      ok: true,
      value: ['schedules:read', 'targets:*', '*', 'admin:*'],
    })
  })

  it.each([
    ['schedule:read', 'schedules:read'],
    ['schedules:reed', 'schedules:read'],
    ['runs:wirte', 'runs:write'],
    ['agent:*', 'agents:*'],
  ])('%s is refused with a hint at %s', (typo, hint) => {
    const result = parsePermissions('scopes', ['runs:read', typo])
    expect(result).toMatchObject({
      ok: false,
      flaws: [{ field: 'scopes.1', value: typo, message: `is not a permission; did you mean ${hint}?` }],
    })
  })

  it.each([[['unicorns']], [[7]], [['']], [['x'.repeat(100_000)]]])(
    'is refused without one when nothing is near',
    (value) => {
      const result = parsePermissions('scopes', value)
      expect(result).toMatchObject({ ok: false, flaws: [{ message: 'is not a permission' }] })
    },
  )

  it.each([[[]], ['runs:read'], [null], [{}]])('is not %j', (value) => {
    expect(parsePermissions('scopes', value)).toMatchObject({ ok: false, flaws: [{ field: 'scopes' }] })
  })
})
