import type { PageFilter } from '../../api/common.ts'
import type { Page } from '../../api/page.ts'
import { invalid, Refusal } from '../../api/refusals.ts'
import type { OrgId } from '../../domain/ids.ts'
import { collectFlaws } from '../../domain/input-fields.ts'
import { formatInstant, type Instant } from '../../domain/instant.ts'
import type { Command } from '../../engine/commands-port.ts'
import { bindToKey } from '../../engine/idempotency.ts'
import type { OrgState } from '../../engine/org-state/org-state.ts'
import type { Ports } from '../../engine/ports.ts'
import { type Caller, callerOf, type Grantor } from './caller.ts'
import { refuseUngrantable } from './keys.ts'
import {
  deleteMemberRow,
  insertMember,
  listMembers,
  loadMember,
  loadMemberByEmail,
  loadOwners,
  type MemberRow,
  saveMember,
} from './members-store.ts'
import { loadOrg } from './orgs-store.ts'
import type { MemberInput, MemberPatch, MemberView } from './schema.ts'
import { actorOf, changed, created, deleted } from '../audit/entry.ts'
import { pageOf, parseCursor, parseLimit } from '../../platform/db/cursor.ts'
import type { Transaction } from '../../platform/db/database.ts'

/** A member as the API returns it. */
export const viewMember = (row: MemberRow): MemberView => ({
  id: row.id,
  org_id: row.orgId,
  name: row.name,
  email: row.email,
  role: row.role,
  created_by: row.createdBy,
  created_at: formatInstant(row.createdAt),
  updated_at: formatInstant(row.updatedAt),
  last_sign_in_at: row.lastSignInAt === null ? null : formatInstant(row.lastSignInAt),
})

type MemberSettings = Pick<MemberRow, 'name' | 'email' | 'role'>

const memberNotFound = (id: string): Refusal => new Refusal('NOT_FOUND', `There is no member ${id}`)

/** Adds a member to the org. They sign in by a link that is created for them. */
export async function createMember(ports: Ports, grantor: Grantor, input: MemberInput): Promise<MemberView> {
  const { name, email = null, role = 'member' } = input
  refuseUngrantable(grantor, { role, scopes: null })
  const caller = callerOf(grantor)
  const command: Command<MemberView> = {
    orgId: grantor.orgId,
    prepare: async (tx, now) => {
      if ((await loadOrg(tx, grantor.orgId)) === undefined)
        throw new Refusal('NOT_FOUND', `There is no org ${grantor.orgId}`)
      const row = newMember({ name, email, role }, { caller, now, id: ports.newId('member', now) })
      if (!(await insertMember(tx, row))) throw emailConflict(row.email)
      return row
    },
    apply: (state, prepared) => {
      const view = viewMember(prepared as MemberRow)
      state.changes.audits.push(created(actorOf(caller), { kind: 'member', id: view.id }, view))
      emitMemberChange(state, view.id, 'created')
      return view
    },
  }
  return ports.commands.execute(bindToKey(command, caller))
}

/** The row of a new member. */
export const newMember = (
  settings: MemberSettings,
  creation: { readonly caller: Caller; readonly now: Instant; readonly id: string },
): MemberRow => ({
  ...{ ...settings, orgId: creation.caller.orgId, id: creation.id, createdBy: creation.caller.principal },
  ...{ createdAt: creation.now, updatedAt: creation.now, lastSignInAt: null },
})

const emailConflict = (email: string | null): Refusal =>
  new Refusal('CONFLICT', `The org already has a member with the email address ${email ?? ''}`, { details: { email } })

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

export async function getMember(ports: Pick<Ports, 'database'>, { orgId }: Caller, id: string): Promise<MemberView> {
  const row = await loadMember(ports.database, { orgId, id })
  if (row === undefined) throw memberNotFound(id)
  return viewMember(row)
}

/** Updates a member. A new role takes effect at once, also where they are signed in. */
export async function updateMember(
  ports: Ports,
  grantor: Grantor,
  request: { readonly id: string; readonly change: MemberPatch },
): Promise<MemberView> {
  const { orgId } = grantor
  const { id } = request
  return ports.commands.execute({
    orgId,
    prepare: async (tx, now): Promise<readonly [MemberRow, MemberRow]> => {
      const found = await loadGrantableMember(tx, grantor, id)
      const { name = found.name, email = found.email, role = found.role } = request.change
      const edited = { ...found, name, email, role, updatedAt: now }
      if (edited.role !== found.role) {
        refuseUngrantable(grantor, { role: edited.role, scopes: null })
        await refuseLastOwner(tx, found)
      }
      const holder = edited.email === null ? undefined : await loadMemberByEmail(tx, { orgId, email: edited.email })
      if (holder !== undefined && holder.id !== id) throw emailConflict(edited.email)
      await saveMember(tx, edited)
      return [found, edited]
    },
    apply: (state, prepared) => {
      const [before, after] = prepared as readonly [MemberRow, MemberRow]
      const views = { before: viewMember(before), after: viewMember(after) }
      state.changes.audits.push(changed(actorOf(callerOf(grantor)), { kind: 'member', id }, views))
      emitMemberChange(state, id, 'updated')
      return views.after
    },
  })
}

/** Removes a member and signs out all their browsers. The keys they created belong to the org and stay. */
export async function deleteMember(ports: Ports, grantor: Grantor, id: string): Promise<void> {
  const { orgId } = grantor
  await ports.commands.execute({
    orgId,
    prepare: async (tx) => {
      const found = await loadGrantableMember(tx, grantor, id)
      await refuseLastOwner(tx, found)
      await deleteMemberRow(tx, { orgId, id })
      return found
    },
    apply: (state, prepared) => {
      const before = viewMember(prepared as MemberRow)
      state.changes.audits.push(deleted(actorOf(callerOf(grantor)), { kind: 'member', id }, before))
      emitMemberChange(state, id, 'deleted')
    },
  })
}

/** The member, if the caller could grant their role: an admin cannot change owners. */
export async function loadGrantableMember(tx: Transaction, grantor: Grantor, id: string): Promise<MemberRow> {
  const found = await loadMember(tx, { orgId: grantor.orgId, id })
  if (found === undefined) throw memberNotFound(id)
  refuseUngrantable(grantor, { role: found.role, scopes: null })
  return found
}

/** Refuses to remove the last owner, because the org could never get another one. */
async function refuseLastOwner(tx: Transaction, leaving: MemberRow): Promise<void> {
  if (leaving.role !== 'owner') return
  const others = await countOtherOwners(tx, leaving.orgId, leaving.id)
  if (others === 0)
    throw new Refusal('CONFLICT', `${leaving.name} is the only owner of the org; make another member an owner first`)
}

const countOtherOwners = async (tx: Transaction, orgId: OrgId, id: string): Promise<number> =>
  (await loadOwners(tx, orgId)).filter((owner) => owner.id !== id).length

function emitMemberChange(state: OrgState, id: string, change: string): void {
  state.changes.events.push({ kind: 'member.changed', subject: id, data: { change } })
}
