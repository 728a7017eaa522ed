import type { PageFilter } from '../../api/common.ts'
import type { Page } from '../../api/page.ts'
import { invalid, Refusal } from '../../api/refusals.ts'
import { OPERATOR_ORG } from '../../domain/access/access.ts'
import type { OrgId } from '../../domain/ids.ts'
import { collectFlaws } from '../../domain/input-fields.ts'
import { formatInstant } from '../../domain/instant.ts'
import { isSecretName, isHostAllowed, secretNamesIn } from '../../domain/secret/secret-names.ts'
import type { OrgState } from '../../engine/org-state/org-state.ts'
import type { Ports } from '../../engine/ports.ts'
import type { Caller } from '../access/caller.ts'
import { acted, actorOf, changed, created, deleted } from '../audit/entry.ts'
import type { ScheduleRef } from '../schedules/editing.ts'
import type { RotationInput, RotationView, SecretInput, SecretPatch, SecretView } from './schema.ts'
import { keyIdOf, resealAll } from './sealing.ts'
import {
  deleteSecretRow,
  insertSecret,
  listSecrets,
  loadSecrets,
  loadSecretUsers,
  updateSecretRow,
  type SecretRow,
  type SecretUser,
} from './store.ts'
import { urlOfExecutor, secretRowRef } from './use.ts'
import { sealSigningSecrets } from '../targets/signing-secret.ts'
import { parseIdCursor, parseLimit, writeCursorParts } from '../../platform/db/cursor.ts'
import type { Connection } from '../../platform/db/database.ts'

/**
 * Seals everything again with the first key, in batches that block no other request. Values that cannot be opened stay
 * as they are and are reported. An interrupted rotation can be repeated; it skips what is already done.
 */
export async function rotateKey(ports: Ports, caller: Caller, input: RotationInput): Promise<RotationView> {
  const { keyId, previousKeyId } = await ports.vault.selectKey({ makeNew: input.new_key === true })
  const newlySealedCount = await sealSigningSecrets(ports)
  const { count, failed } = await resealAll(ports, keyId)
  const resealedCount = newlySealedCount + count
  const view: RotationView = {
    key_id: keyId,
    previous_key_id: previousKeyId,
    sealed_anew: resealedCount,
    failed: [...failed],
  }
  await ports.commands.execute({
    orgId: OPERATOR_ORG,
    apply: (state) => {
      const after = { key_id: keyId, previous_key_id: previousKeyId, sealed_anew: resealedCount, failed: failed.length }
      state.changes.audits.push(acted(actorOf(caller), { kind: 'sealing_key', id: keyId }, { verb: 'rotate', after }))
    },
  })
  return view
}

const secretNotFound = (name: string): Refusal => new Refusal('NOT_FOUND', `There is no secret ${name}`)

/** Creates a secret. Its value is sealed before anything is written. */
export async function createSecret(ports: Ports, caller: Caller, input: SecretInput): Promise<SecretView> {
  const { orgId } = caller
  const { name, hosts, value } = input
  const sealedValue = await ports.vault.seal(value, secretRowRef({ orgId, name }))
  return ports.commands.execute({
    orgId,
    prepare: async (tx, now): Promise<SecretRow> => {
      const row: SecretRow = {
        ...{ orgId, name, hosts, sealedValue, version: 1, createdBy: caller.principal },
        ...{ createdAt: now, updatedAt: now, valueSetAt: now },
      }
      if (!(await insertSecret(tx, row))) throw new Refusal('CONFLICT', `Secret ${name} already exists`)
      return row
    },
    apply: (state, prepared) => {
      const row = prepared as SecretRow
      state.changes.audits.push(created(actorOf(caller), { kind: 'secret', id: name }, secretAuditView(row)))
      emitSecretChange(state, name, 'created')
      return viewSecret(row, [])
    },
  })
}

/** The secret, without its value. */
export async function getSecret({ database }: Ports, { orgId }: Caller, name: string): Promise<SecretView> {
  const row = await loadRequestedSecret(database, orgId, { id: name })
  return viewSecret(row, await loadUsersOfSecret(database, row))
}

/** A page of the org's secrets by name, without their values. */
export async function findSecrets(
  { database }: Pick<Ports, 'database'>,
  { orgId }: Caller,
  filter: PageFilter = {},
): Promise<Page<SecretView>> {
  const { flaws, keep } = collectFlaws()
  const limit = keep(parseLimit('limit', filter.limit)) ?? 0
  const after = keep(parseIdCursor('cursor', filter.cursor))
  if (flaws.length > 0) throw invalid(flaws)
  const rows = await listSecrets(database, { orgId, after: after ?? '', limit: limit + 1 })
  const users = rows.length === 0 ? [] : await loadSecretUsers(database, orgId)
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return {
    items: shown.map((row) => viewSecret(row, usersNaming(users, row.name))),
    next_cursor: rows.length > limit && last !== undefined ? writeCursorParts([last.name]) : null,
  }
}

/** Updates a secret. Attempts in progress keep the value they started with. */
export async function updateSecret(
  ports: Ports,
  caller: Caller,
  request: ScheduleRef & { readonly change: SecretPatch },
): Promise<SecretView> {
  const { orgId } = caller
  const { value, hosts } = request.change
  const stored = await loadRequestedSecret(ports.database, orgId, { id: request.id })
  const sealed = value === undefined ? null : await ports.vault.seal(value, secretRowRef(stored))
  return ports.commands.execute({
    orgId,
    prepare: async (tx, now): Promise<PreparedSecretUpdate> => {
      const before = await loadRequestedSecret(tx, orgId, request)
      const users = await loadUsersOfSecret(tx, before)
      if (hosts !== undefined) refuseRemovedHosts(before, users, hosts)
      const valueSetAt = sealed === null ? before.valueSetAt : now
      const row = { ...before, hosts: hosts ?? before.hosts, version: before.version + 1, updatedAt: now, valueSetAt }
      await updateSecretRow(tx, { ...row, sealedValue: sealed })
      return { before, after: { ...row, sealedValue: sealed ?? before.sealedValue }, users }
    },
    apply: (state, prepared) => {
      const { before, after, users } = prepared as PreparedSecretUpdate
      const views = { before: secretAuditView(before), after: secretAuditView(after) }
      state.changes.audits.push(changed(actorOf(caller), { kind: 'secret', id: after.name }, views))
      emitSecretChange(state, after.name, 'updated')
      return viewSecret(after, users)
    },
  })
}

interface PreparedSecretUpdate {
  readonly before: SecretRow
  readonly after: SecretRow
  readonly users: readonly SecretUser[]
}

/** Maximum number of agents named in an error message. */
const MAX_NAMED_SECRET_USERS = 5

/** Refuses hosts that would make an agent fail from its next run on. */
function refuseRemovedHosts({ name }: SecretRow, users: readonly SecretUser[], hosts: readonly string[]): void {
  const cutOff = users.filter(({ executor }) => !isHostAllowed(hosts, urlOfExecutor(executor) ?? ''))
  if (cutOff.length === 0) return
  const ids = cutOff.map(({ id }) => id)
  throw new Refusal(
    'CONFLICT',
    `Agents send ${name} to other hosts: ${ids.slice(0, MAX_NAMED_SECRET_USERS).join(', ')}; change them first`,
    {
      details: { agent_ids: ids },
    },
  )
}

/** Deletes a secret that no agent uses. */
export async function deleteSecret(ports: Ports, caller: Caller, request: ScheduleRef): Promise<void> {
  const { orgId } = caller
  await ports.commands.execute({
    orgId,
    prepare: async (tx) => {
      const row = await loadRequestedSecret(tx, orgId, request)
      const ids = (await loadUsersOfSecret(tx, row)).map(({ id }) => id)
      if (ids.length > 0)
        throw new Refusal(
          'CONFLICT',
          `Agents use ${row.name}: ${ids.slice(0, MAX_NAMED_SECRET_USERS).join(', ')}; change them first`,
          {
            details: { agent_ids: ids },
          },
        )
      await deleteSecretRow(tx, { orgId, name: row.name })
      return row
    },
    apply: (state, prepared) => {
      const row = prepared as SecretRow
      state.changes.audits.push(deleted(actorOf(caller), { kind: 'secret', id: row.name }, secretAuditView(row)))
      emitSecretChange(state, row.name, 'deleted')
    },
  })
}

/** The stored secret. Refuses if it does not exist, or has another version than the expected one. */
async function loadRequestedSecret(
  connection: Connection,
  orgId: OrgId,
  { id, version }: ScheduleRef,
): Promise<SecretRow> {
  const [row] = isSecretName(id) ? await loadSecrets(connection, { orgId, names: [id] }) : []
  if (row === undefined) throw secretNotFound(id)
  if (version === undefined || version === row.version) return row
  throw new Refusal('STALE_VERSION', `Secret ${id} is at version ${row.version}`, { details: { version: row.version } })
}

const loadUsersOfSecret = async (connection: Connection, { orgId, name }: SecretRow): Promise<readonly SecretUser[]> =>
  usersNaming(await loadSecretUsers(connection, orgId), name)

const usersNaming = (users: readonly SecretUser[], name: string): readonly SecretUser[] =>
  users.filter(({ executor }) => secretNamesIn(executor).includes(name))

/** The secret in the audit log: never its value, sealed or not. */
const secretAuditView = ({ name, hosts, version, valueSetAt }: SecretRow): object => ({
  ...{ name, hosts, version, value_set_at: formatInstant(valueSetAt) },
})

const viewSecret = (row: SecretRow, users: readonly SecretUser[]): SecretView => ({
  name: row.name,
  org_id: row.orgId,
  hosts: row.hosts,
  used_by: users.map(({ id }) => id),
  key_id: keyIdOf(row.sealedValue) ?? '',
  version: row.version,
  created_by: row.createdBy,
  created_at: formatInstant(row.createdAt),
  updated_at: formatInstant(row.updatedAt),
  value_set_at: formatInstant(row.valueSetAt),
})

function emitSecretChange(state: OrgState, name: string, change: string): void {
  state.changes.events.push({ kind: 'secret.changed', subject: name, data: { change } })
}
