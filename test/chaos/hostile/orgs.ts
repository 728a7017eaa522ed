import { createClient, demand, type Client } from './client.ts'

/** An org of the deployment, and what its people ask with. */
export interface TestOrg {
  readonly id: string
  /** The key of a member. */
  readonly memberKey: string
  /** The key of an admin. */
  readonly adminKey: string
  /** The key of its owner. */
  readonly ownerKey: string
}

/** Creates an org with an owner, who signs in and creates a key for everybody, in the way people do. */
export async function createOrg(url: string, operator: Client, id: string): Promise<TestOrg> {
  await demand(operator, { path: '/api/v1/orgs', body: { id, name: id } })
  const members = `/api/v1/orgs/${id}/members`
  const body = { name: 'Owner', email: `owner@${id}.example`, role: 'owner' }
  const member = await demand(operator, { path: members, body })
  const link = await demand(operator, { method: 'POST', path: `${members}/${String(member['id'])}/sign-in-link` })
  const browser = createClient(url)
  const entered = await browser({ path: '/api/v1/sign-in', body: { token: link['token'] }, headers: { origin: url } })
  const { csrf_token: csrf } = JSON.parse(entered.text) as { readonly csrf_token: string }
  const cookie = String(entered.headers['set-cookie']).split(';')[0] ?? ''
  const keyOf = async (role: string): Promise<string> => {
    const headers = { origin: url, cookie, 'x-csrf-token': csrf }
    const key = await demand(browser, { path: '/api/v1/keys', body: { name: role, role }, headers })
    return String(key['key'])
  }
  return { id, ownerKey: await keyOf('owner'), adminKey: await keyOf('admin'), memberKey: await keyOf('member') }
}
