import type { MemberInput, MemberPatch, MemberView } from '../contract/member.ts'
import type { Page } from '../api/page.ts'
import type { PageFilter } from '../api/common.ts'
import { invalid, Refusal } from '../api/refusals.ts'
import type { OrgId } from '../domain/ids.ts'
import type { Instant } from '../domain/instant.ts'
import type { Transaction } from '../store/database.ts'
import {
  deleteMember,
  insertMember,
  listMembers,
  loadMember,
  loadMemberByEmail,
  loadOwners,
  saveMember,
  type MemberRow,
} from '../store/members.ts'
import { loadOrg } from '../features/access/orgs-store.ts'
import { actorOf, changed, created, deleted } from '../features/audit/entry.ts'
import { callerOf, type Caller, type Giver } from './caller.ts'
import { pageOf, parseCursor, parseLimit } from '../platform/db/cursor.ts'
import type { Desk } from './desk/desk.ts'
import { bound } from './idempotent.ts'
import { collectFlaws } from '../domain/input-fields.ts'
import { refuseUngrantable } from '../features/access/keys.ts'
import { viewMember } from './member-view.ts'
import type { Ports } from './ports.ts'
import type { Work } from './turn-port.ts'

type Decided = Pick<MemberRow, 'name' | 'email' | 'role'>

const noMember = (id: string): Refusal => new Refusal('NOT_FOUND', `There is no member ${id}`)

/** Lets somebody into the org. They sign in by a link that is made for them. */
export async function createMember(ports: Ports, giver: Giver, input: MemberInput): Promise<MemberView> {
  const { name, email = null, role = 'member' } = input
  refuseUngrantable(giver, { role, scopes: null })
  const caller = callerOf(giver)
  const work: Work<MemberView> = {
    orgId: giver.orgId,
    prepare: async (tx, now) => {
      if ((await loadOrg(tx, giver.orgId)) === undefined)
        throw new Refusal('NOT_FOUND', `There is no org ${giver.orgId}`)
      const row = newMember({ name, email, role }, { caller, now, id: ports.newId('member', now) })
      if (!(await insertMember(tx, row))) throw taken(row.email)
      return row
    },
    apply: (desk, prepared) => {
      const view = viewMember(prepared as MemberRow)
      desk.changes.audits.push(created(actorOf(caller), { kind: 'member', id: view.id }, view))
      tell(desk, view.id, 'created')
      return view
    },
  }
  return ports.turns.take(bound(work, caller))
}

/** A member who has never signed in. */
export const newMember = (
  decided: Decided,
  made: { readonly caller: Caller; readonly now: Instant; readonly id: string },
): MemberRow => ({
  ...{ ...decided, orgId: made.caller.orgId, id: made.id, createdBy: made.caller.principal },
  ...{ createdAt: made.now, updatedAt: made.now, lastSignInAt: null },
})

const taken = (email: string | null): Refusal =>
  new Refusal('CONFLICT', `The org has a member with the address ${email ?? ''} already`, { details: { email } })

/** A page of the org's members, newest first. */
export async function findMembers(
  ports: Pick<Ports, 'database'>,
  { orgId }: Caller,
  filter: PageFilter = {},
): Promise<Page<MemberView>> {
  const { flaws, keep } = collectFlaws()
  const limit = keep(parseLimit('limit', filter.limit)) ?? 0
  const cursor = keep(parseCursor('cursor', filter.cursor))
  if (flaws.length > 0) throw invalid(flaws)
  const after = cursor === null ? null : { createdAt: cursor.createdAt, id: cursor.key }
  const rows = await listMembers(ports.database, { orgId, after, limit: limit + 1 })
  return pageOf(rows, limit, { view: viewMember, cursor: ({ createdAt, id }) => ({ createdAt, key: id }) })
}

/** The member. */
export async function getMember(ports: Pick<Ports, 'database'>, { orgId }: Caller, id: string): Promise<MemberView> {
  const row = await loadMember(ports.database, { orgId, id })
  if (row === undefined) throw noMember(id)
  return viewMember(row)
}

/** Changes a member. A new role holds at once, also where they are signed in. */
export async function changeMember(
  ports: Ports,
  giver: Giver,
  asked: { readonly id: string; readonly change: MemberPatch },
): Promise<MemberView> {
  const { orgId } = giver
  const { id } = asked
  return ports.turns.take({
    orgId,
    prepare: async (tx, now): Promise<readonly [MemberRow, MemberRow]> => {
      const found = await memberWithin(tx, giver, id)
      const { name = found.name, email = found.email, role = found.role } = asked.change
      const edited = { ...found, name, email, role, updatedAt: now }
      if (edited.role !== found.role) {
        refuseUngrantable(giver, { role: edited.role, scopes: null })
        await refuseWithoutOwner(tx, found)
      }
      const holder = edited.email === null ? undefined : await loadMemberByEmail(tx, { orgId, email: edited.email })
      if (holder !== undefined && holder.id !== id) throw taken(edited.email)
      await saveMember(tx, edited)
      return [found, edited]
    },
    apply: (desk, prepared) => {
      const [before, after] = prepared as readonly [MemberRow, MemberRow]
      const views = { before: viewMember(before), after: viewMember(after) }
      desk.changes.audits.push(changed(actorOf(callerOf(giver)), { kind: 'member', id }, views))
      tell(desk, id, 'updated')
      return views.after
    },
  })
}

/** Shows somebody out: every browser they are signed in with is signed out. Keys they have made are the org's and stay. */
export async function removeMember(ports: Ports, giver: Giver, id: string): Promise<void> {
  const { orgId } = giver
  await ports.turns.take({
    orgId,
    prepare: async (tx) => {
      const found = await memberWithin(tx, giver, id)
      await refuseWithoutOwner(tx, found)
      await deleteMember(tx, { orgId, id })
      return found
    },
    apply: (desk, prepared) => {
      const before = viewMember(prepared as MemberRow)
      desk.changes.audits.push(deleted(actorOf(callerOf(giver)), { kind: 'member', id }, before))
      tell(desk, id, 'deleted')
    },
  })
}

/** The member, if whoever asks could have given them their role: an admin does not change owners. */
export async function memberWithin(tx: Transaction, giver: Giver, id: string): Promise<MemberRow> {
  const found = await loadMember(tx, { orgId: giver.orgId, id })
  if (found === undefined) throw noMember(id)
  refuseUngrantable(giver, { role: found.role, scopes: null })
  return found
}

/** An org without an owner could never get one again. */
async function refuseWithoutOwner(tx: Transaction, leaving: MemberRow): Promise<void> {
  if (leaving.role !== 'owner') return
  const others = await ownersBeside(tx, leaving.orgId, leaving.id)
  if (others === 0)
    throw new Refusal('CONFLICT', `${leaving.name} is the only owner of the org; make somebody else an owner first`)
}

const ownersBeside = async (tx: Transaction, orgId: OrgId, id: string): Promise<number> =>
  (await loadOwners(tx, orgId)).filter((owner) => owner.id !== id).length

function tell(desk: Desk, id: string, change: string): void {
  desk.changes.events.push({ kind: 'member.changed', subject: id, data: { change } })
}
