import type { Page } from '../../api/page.ts'
import type { PageFilter } from '../../api/common.ts'
import { invalid, Refusal } from '../../api/refusals.ts'
import type { SecretInput, SecretPatch, SecretView } from '../../features/secrets/schema.ts'
import type { OrgId } from '../../domain/ids.ts'
import { formatInstant } from '../../domain/instant.ts'
import { isSecretName, secretNamesIn } from '../../core/secret/secret-names.ts'
import { mayGoTo } from '../../domain/secret/secret-names.ts'
import type { Connection } from '../../store/database.ts'
import {
  deleteSecret,
  insertSecret,
  listSecrets,
  loadSecrets,
  loadSecretUsers,
  saveSecret,
  type SecretRow,
  type SecretUser,
} from '../../store/secrets.ts'
import { actorOf, changed, created, deleted } from '../../features/audit/entry.ts'
import type { Caller } from '../caller.ts'
import { parseIdCursor, parseLimit, writeCursorParts } from '../../platform/db/cursor.ts'
import type { Desk } from '../desk/desk.ts'
import { collectFlaws } from '../../domain/input-fields.ts'
import type { Ports } from '../ports.ts'
import type { Asked } from '../schedule-editing.ts'
import { keyIdOf } from './sealing.ts'
import { addressOf, placeOf } from './use.ts'

const noSecret = (name: string): Refusal => new Refusal('NOT_FOUND', `There is no secret ${name}`)

/** Keeps a secret. Its value is sealed before anything is written. */
export async function createSecret(ports: Ports, caller: Caller, input: SecretInput): Promise<SecretView> {
  const { orgId } = caller
  const { name, hosts, value } = input
  const sealedValue = await ports.vault.seal(value, placeOf({ orgId, name }))
  return ports.turns.take({
    orgId,
    prepare: async (tx, now): Promise<SecretRow> => {
      const row: SecretRow = {
        ...{ orgId, name, hosts, sealedValue, version: 1, createdBy: caller.principal },
        ...{ createdAt: now, updatedAt: now, valueSetAt: now },
      }
      if (!(await insertSecret(tx, row))) throw new Refusal('CONFLICT', `There is a secret ${name} already`)
      return row
    },
    apply: (desk, prepared) => {
      const row = prepared as SecretRow
      desk.changes.audits.push(created(actorOf(caller), { kind: 'secret', id: name }, factsOf(row)))
      tell(desk, name, 'created')
      return viewSecret(row, [])
    },
  })
}

/** The secret, without its value. */
export async function getSecret({ database }: Ports, { orgId }: Caller, name: string): Promise<SecretView> {
  const row = await readSecret(database, orgId, { id: name })
  return viewSecret(row, await usersOf(database, row))
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
  const found = await listSecrets(database, { orgId, after: after ?? '', limit: limit + 1 })
  const users = found.length === 0 ? [] : await loadSecretUsers(database, orgId)
  const shown = found.slice(0, limit)
  const last = shown.at(-1)
  return {
    items: shown.map((row) => viewSecret(row, namedIn(users, row.name))),
    next_cursor: found.length > limit && last !== undefined ? writeCursorParts([last.name]) : null,
  }
}

/** Changes a secret. Attempts that are under way have the value they began with. */
export async function changeSecret(
  ports: Ports,
  caller: Caller,
  asked: Asked & { readonly change: SecretPatch },
): Promise<SecretView> {
  const { orgId } = caller
  const { value, hosts } = asked.change
  const known = await readSecret(ports.database, orgId, { id: asked.id })
  const sealed = value === undefined ? null : await ports.vault.seal(value, placeOf(known))
  return ports.turns.take({
    orgId,
    prepare: async (tx, now): Promise<Edited> => {
      const before = await readSecret(tx, orgId, asked)
      const users = await usersOf(tx, before)
      if (hosts !== undefined) refuseCutOff(before, users, hosts)
      const valueSetAt = sealed === null ? before.valueSetAt : now
      const row = { ...before, hosts: hosts ?? before.hosts, version: before.version + 1, updatedAt: now, valueSetAt }
      await saveSecret(tx, { ...row, sealedValue: sealed })
      return { before, after: { ...row, sealedValue: sealed ?? before.sealedValue }, users }
    },
    apply: (desk, prepared) => {
      const { before, after, users } = prepared as Edited
      const views = { before: factsOf(before), after: factsOf(after) }
      desk.changes.audits.push(changed(actorOf(caller), { kind: 'secret', id: after.name }, views))
      tell(desk, after.name, 'updated')
      return viewSecret(after, users)
    },
  })
}

interface Edited {
  readonly before: SecretRow
  readonly after: SecretRow
  readonly users: readonly SecretUser[]
}

/** Users that are named when a secret cannot go. */
const NAMED = 5

/** An agent would fail from its next run on, and nobody would have been told. */
function refuseCutOff({ name }: SecretRow, users: readonly SecretUser[], hosts: readonly string[]): void {
  const cutOff = users.filter(({ executor }) => !mayGoTo(hosts, addressOf(executor) ?? ''))
  if (cutOff.length === 0) return
  const ids = cutOff.map(({ id }) => id)
  throw new Refusal('CONFLICT', `Agents send ${name} elsewhere: ${ids.slice(0, NAMED).join(', ')}; change them first`, {
    details: { agent_ids: ids },
  })
}

/** Deletes a secret that no agent names. */
export async function removeSecret(ports: Ports, caller: Caller, asked: Asked): Promise<void> {
  const { orgId } = caller
  await ports.turns.take({
    orgId,
    prepare: async (tx) => {
      const row = await readSecret(tx, orgId, asked)
      const ids = (await usersOf(tx, row)).map(({ id }) => id)
      if (ids.length > 0)
        throw new Refusal('CONFLICT', `Agents use ${row.name}: ${ids.slice(0, NAMED).join(', ')}; change them first`, {
          details: { agent_ids: ids },
        })
      await deleteSecret(tx, { orgId, name: row.name })
      return row
    },
    apply: (desk, prepared) => {
      const row = prepared as SecretRow
      desk.changes.audits.push(deleted(actorOf(caller), { kind: 'secret', id: row.name }, factsOf(row)))
      tell(desk, row.name, 'deleted')
    },
  })
}

/** The secret as it is on record, if it is still what somebody saw. */
async function readSecret(connection: Connection, orgId: OrgId, { id, version }: Asked): Promise<SecretRow> {
  const [row] = isSecretName(id) ? await loadSecrets(connection, { orgId, names: [id] }) : []
  if (row === undefined) throw noSecret(id)
  if (version === undefined || version === row.version) return row
  throw new Refusal('STALE_VERSION', `Secret ${id} is at version ${row.version}`, { details: { version: row.version } })
}

const usersOf = async (connection: Connection, { orgId, name }: SecretRow): Promise<readonly SecretUser[]> =>
  namedIn(await loadSecretUsers(connection, orgId), name)

const namedIn = (users: readonly SecretUser[], name: string): readonly SecretUser[] =>
  users.filter(({ executor }) => secretNamesIn(executor).includes(name))

/** What is on record about a secret for good: never its value, sealed or not. */
const factsOf = ({ name, hosts, version, valueSetAt }: SecretRow): object => ({
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

function tell(desk: Desk, name: string, change: string): void {
  desk.changes.events.push({ kind: 'secret.changed', subject: name, data: { change } })
}
