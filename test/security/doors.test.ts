import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { OperationSpec } from '../../src/api/operation.ts'
import { RPC_METHODS } from '../../src/server/rpc/methods.ts'
import {
  OPERATOR_ORG,
  PERMISSIONS,
  ROLES,
  type Permission,
  type Principal,
  type Role,
} from '../../src/domain/access/access.ts'
import { principalId } from '../../src/domain/ids.ts'
import { RPC_HANDLERS } from '../../src/server/rpc/handlers.ts'
import { ALL_OPERATIONS, fillPath, isStream, paramsIn } from '../server/contract/objects.ts'
import { post } from '../server/rpc/support.ts'
import { aPrincipal, createHttpWorld, KEYS, SESSIONS, type HttpWorld, type More } from '../server/support.ts'
import { ORG } from '../platform/db/records.ts'
import { ROOT } from '../tooling/root.ts'

// Every way into a node, and who may take it. Which permission an operation needs is asked for one by one in
// test/server/permission-matrix.test.ts; here it is asked by role, with a key and with the cookie of the console, and of the
// doors that are no operations. A door that is in none of the lists fails the first test.

const ROLE_WORDS = Object.keys(ROLES) as readonly Role[]
const ALL_PERMISSIONS = Object.keys(PERMISSIONS) as readonly Permission[]

/** Paths that are no operations, with what answers there. Everything else on them is 405. */
const DOORS: Readonly<Record<string, 'key' | 'everybody'>> = {
  '/rpc': 'key',
  '/mcp': 'key',
  '/docs': 'everybody',
  '/docs/errors': 'everybody',
  '/docs/docs.css': 'everybody',
  '/docs/docs.js': 'everybody',
  ...Object.fromEntries(
    ['/sign-in', '/automation', '/chat', '/agents', '/operations', '/settings'].flatMap(
      (page) => [[page, 'everybody'] as const, [`${page}/*`, 'everybody'] as const] as const,
    ),
  ),
  '/': 'everybody',
}

/** Files of the console: each is a path of its own, and their names follow from what is in them. */
const ASSET = /^\/(assets\/[\w.-]+|[\w-]+\.(svg|html|js|css))$/

/** Where WebSockets are opened, with the permission that is asked for there. */
const SOCKETS: Readonly<Record<string, string>> = {
  '/rpc': "permission: 'any'",
  '/ws': "permission: 'any'",
  '/api/v1/worker/socket': "permission: 'workers:run'",
}

let world: HttpWorld
const names: string[] = []

beforeAll(async () => {
  world = await createHttpWorld()
  await world.app.ready()
  for (const orgId of [ORG, OPERATOR_ORG])
    for (const role of ROLE_WORDS) {
      const name = `${orgId} ${role}`
      const principal = aPrincipal(role, { id: principalId(name.replace(' ', '_')), orgId })
      KEYS.set(keyOf(name), principal)
      SESSIONS.set(keyOf(name), { principal, csrfToken: 'csrf' })
      names.push(keyOf(name))
    }
  for (const permission of ALL_PERMISSIONS) {
    const id = principalId(`only_${permission}`)
    KEYS.set(`only-${permission}`, aPrincipal('owner', { id, scopes: [permission] }))
    names.push(`only-${permission}`)
  }
})
afterAll(async () => {
  for (const name of names) {
    KEYS.delete(name)
    SESSIONS.delete(name)
  }
  await world.close()
})

const keyOf = (name: string): string => name.replace(' ', '-')

/** The paths of a server, from the picture it draws of them. */
function pathsOf({ app }: HttpWorld): readonly string[] {
  const trail: string[] = []
  return app
    .printRoutes({ commonPrefix: false })
    .split('\n')
    .flatMap((line) => {
      const [, indent = '', text = ''] = /^([│ ]*)[├└]── (\S*)/.exec(line) ?? []
      if (text === '') return []
      const depth = indent.length / 4
      trail.splice(depth, Infinity, text)
      return line.endsWith(')') ? [trail.join('').replace(/\/?\*$/, '/*')] : []
    })
}

describe('every door', () => {
  it('is an operation, or is in the list of those that are none', () => {
    const known = new Set([...ALL_OPERATIONS.map(([, spec]) => spec.path), ...Object.keys(DOORS)])
    const paths = pathsOf(world)
    expect(paths.length).toBeGreaterThanOrEqual(known.size)
    expect(paths.filter((one) => !known.has(one) && !ASSET.test(one))).toEqual([])
    expect([...known].filter((one) => !paths.includes(one))).toEqual([])
  })

  it('for WebSockets is in the list of those', () => {
    const found: Record<string, string> = {}
    const folder = path.join(ROOT, 'src/server')
    for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((one) =>
      one.endsWith('.ts'),
    )) {
      const text = readFileSync(path.join(folder, file), 'utf8')
      for (const [, body = ''] of text.matchAll(/: SocketService = \{([^}]*\}[^}]*)\}/g)) {
        const [, given = ''] = /path: ([^,\n]+)/.exec(body) ?? []
        found[given === 'RPC_PATH' ? '/rpc' : given.replaceAll("'", '')] =
          /permission: '[^']+'/.exec(body)?.[0] ?? 'nothing'
      }
    }
    expect(found).toEqual(SOCKETS)
    expect(world.app.server.listenerCount('upgrade')).toBe(1)
  })

  it('that is no operation takes nothing but what it is for', async () => {
    for (const [door, who] of Object.entries(DOORS)) {
      const url = door.replace('*', 'anything')
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const) {
        if (who === 'key' && method === 'POST') continue
        expect([door, method, (await world.ask(method, url)).statusCode]).toEqual([door, method, 405])
      }
      const { statusCode } = await world.ask(who === 'key' ? 'POST' : 'GET', url, { as: null })
      expect([door, statusCode]).toEqual([door, who === 'key' ? 401 : 200])
    }
  })

  it('that anybody may use without a key is one of a few', () => {
    const open = ALL_OPERATIONS.filter(([, { permission }]) => permission === 'none').map(([id]) => id)
    expect(open.toSorted()).toEqual([
      ...['auth.signIn', 'callbacks.settle', 'hooks.receive'],
      ...['probes.fileSchema', 'probes.health', 'probes.openapi', 'probes.ready', 'probes.version'],
    ])
    const inPrivate = ALL_OPERATIONS.filter(([, { openInPrivate }]) => openInPrivate === true).map(([id]) => id)
    expect(inPrivate).toEqual(['metrics.get'])
  })
})

const holds = (role: Role, permission: Permission): boolean =>
  ROLES[role].some((one) => one === '*' || one === permission)

function mayPass(role: Role, { permission, operatorOnly, approving }: OperationSpec, org: string): boolean {
  if (permission === 'none' || permission === 'any') return true
  const wanted = typeof permission === 'string' ? [permission] : permission
  if (!wanted.some((one) => holds(role, one))) return false
  const isHigh = role === 'owner' || role === 'admin'
  if (operatorOnly === true) return org === OPERATOR_ORG && isHigh
  return approving !== true || isHigh
}

/** Asks about something that is not there and with a body that is not right: who gets so far has passed the gate. */
async function passes([id, spec]: (typeof ALL_OPERATIONS)[number], more: More): Promise<boolean> {
  const url = fillPath(spec.path, Object.fromEntries(paramsIn(spec.path).map((name) => [name, 'nobody_made_this'])))
  const response = await world.ask(spec.method, url, spec.method === 'GET' ? more : { ...more, body: { not: 'right' } })
  const { statusCode } = response
  if (statusCode >= 500 || statusCode === 421) throw new Error(`${id} answered ${statusCode}: ${response.body}`)
  const { details } = response.json<{ details?: { rule?: string } }>()
  return statusCode !== 401 && !(statusCode === 403 && /^access\.(permission|operator|role)$/.test(details?.rule ?? ''))
}

describe('every operation by role', () => {
  const closed = ALL_OPERATIONS.filter(
    ([id, spec]) => !isStream(spec) && id !== 'auth.signOut' && spec.permission !== 'none',
  )

  it.each(closed)('%s lets in those roles that hold what it needs, with a key and with a cookie', async (id, spec) => {
    for (const org of spec.operatorOnly === true ? [ORG, OPERATOR_ORG] : [ORG])
      for (const role of ROLE_WORDS) {
        const name = keyOf(`${org} ${role}`)
        const cookie = { cookie: `escapement_session=${name}`, 'x-csrf-token': 'csrf' }
        const wanted = mayPass(role, spec, org)
        const withKey = await passes([id, spec], { as: name })
        const withCookie = await passes([id, spec], { as: null, headers: cookie })
        expect([org, role, withKey, withCookie]).toEqual([org, role, wanted, wanted])
      }
  })
})

describe('every method of /rpc', () => {
  const methods = Object.entries(RPC_METHODS)
  const codeOf = async (method: string, as: string): Promise<string | undefined> => {
    const params = { not: 'right' }
    const response = await post(world, { jsonrpc: '2.0', id: 1, method, params }, { as })
    return response.json<{ error?: { data?: { code?: string } } }>().error?.data?.code
  }

  it('has somebody who carries it out, and nobody carries out another', () => {
    expect(Object.keys(RPC_HANDLERS).toSorted()).toEqual(methods.map(([name]) => name).toSorted())
  })

  it.each(methods)('%s lets in those who hold what it needs, and nobody else', async (method, { permission }) => {
    for (const role of ROLE_WORDS) {
      const isIn = (await codeOf(method, keyOf(`${ORG} ${role}`))) !== 'FORBIDDEN'
      expect([role, isIn]).toEqual([role, holds(role, permission)])
    }
    for (const one of ALL_PERMISSIONS)
      expect([one, (await codeOf(method, `only-${one}`)) !== 'FORBIDDEN']).toEqual([one, one === permission])
    const over: readonly (readonly [string, Partial<Principal>])[] = [
      ['revoked', { revokedAt: world.services.now }],
      ['expired', { expiresAt: world.services.now }],
    ]
    for (const [name, change] of over) {
      KEYS.set(name, aPrincipal('owner', change))
      names.push(name)
      expect((await post(world, { jsonrpc: '2.0', id: 1, method }, { as: name })).statusCode).toBe(401)
    }
    expect((await post(world, { jsonrpc: '2.0', id: 1, method }, { as: null })).statusCode).toBe(401)
  })
})
