import type { Command } from 'commander'
import { EscapementError } from '../../client/errors.ts'
import type { SecretInput, SecretPatch, RotationView, SecretView } from '../../features/secrets/schema.ts'
import { agoText, momentText } from '../output/times.ts'
import { readHidden } from '../remote/hidden-text.ts'
import { showOne, type Facts } from '../remote/show.ts'
import { commandOf, remote, type Desk, type Talk } from '../remote/talk.ts'
import { UsageError } from '../remote/usage.ts'
import { addAction, addGet, addList } from '../resource.ts'
import type { RecoverOptions } from '../../features/secrets/cli-recover.ts'
import { withDatabase } from '../serve-commands.ts'

interface SetOptions {
  readonly host?: readonly string[]
  readonly keepValue?: boolean
}

/** `escapement secrets …`: values that agents may send and nobody can read. */
export function addSecrets(group: Command, desk: Desk): void {
  addList<SecretView>(desk, commandOf(group, 'list', 'list secrets, without their values'), {
    none: 'No secrets.',
    read: (talk, query) => talk.client.secrets.list(query),
    columns: ({ now }) => [
      { title: 'NAME', of: ({ name }) => name },
      { title: 'HOSTS', of: ({ hosts }) => hosts.join(' '), flexible: true },
      { title: 'USED BY', of: ({ used_by }) => used_by.join(' '), flexible: true },
      { title: 'SET', of: ({ value_set_at }) => agoText(value_set_at, now) },
      { title: 'KEY', of: ({ key_id }) => key_id },
    ],
  })
  addGet(desk, commandOf(group, 'get <name>', 'show a secret and its agents, without its value'), {
    facts,
    read: (talk, [name = '']) => talk.client.secrets.get(name),
  })
  const set = commandOf(group, 'set <name>', 'create or update a secret; its value is asked for, or read from a pipe')
    .option('--host <host...>', 'host it may be sent to, as in api.example.com or localhost:8080')
    .option('--keep-value', 'update only its hosts')
  remote<SetOptions>(desk, set, {
    names: { '/hosts': '--host' },
    work: async (talk, [name = ''], options) => {
      const secret = await setSecret(talk, name, options)
      await showOne(talk, secret, () => facts(talk, secret))
    },
  })
  addAction(desk, commandOf(group, 'delete <name>', 'delete a secret that no agent uses'), {
    call: async (talk, [name = '']) => {
      await talk.client.secrets.delete(name)
      return { name, deleted: true }
    },
    say: (_, name) => `${name} is deleted.`,
  })
  const rotating = commandOf(group, 'rotate', 'encrypt all secrets again with the first key').option(
    '--new-key',
    'create a new key first; only where it is in a file beside the embedded database',
  )
  addAction<RotationView, { readonly newKey?: boolean }>(desk, rotating, {
    call: (talk, _, { newKey = false }) => talk.client.secrets.rotate({ new_key: newKey }),
    say: rotationText,
    isDone: ({ failed }) => failed.length === 0,
  })
  const recover = commandOf(group, 'recover', 'use another key after the encryption key was lost; needs no server')
  withDatabase(recover)
    .requiredOption('--lost-key <id>', 'id of the lost key; its secrets are listed and must be entered again')
    .option('--json', 'print JSON for programs')
    .action(async (options: RecoverOptions) => {
      const { runRecover } = await import('../../features/secrets/cli-recover.ts')
      desk.settle(await runRecover(desk.terminal, options))
    })
}

async function setSecret(talk: Talk, name: string, options: SetOptions): Promise<SecretView> {
  const { host: hosts, keepValue = false } = options
  if (keepValue && hosts === undefined) throw new UsageError('--keep-value changes nothing without --host')
  const value = keepValue ? undefined : await readHidden(talk.terminal, `Value of ${name} (is not shown): `)
  const change: SecretPatch = { value, hosts }
  try {
    return await talk.client.secrets.update(name, change)
  } catch (error) {
    if (!(error instanceof EscapementError) || error.code !== 'NOT_FOUND' || keepValue) throw error
  }
  // Without a host the server says what is missing, as for everything else.
  return talk.client.secrets.create({ name, ...change } as SecretInput)
}

function rotationText({ previous_key_id: previous, failed, sealed_anew: sealed, key_id: key }: RotationView): string {
  const before = previous === null ? '' : `, ${previous} before`
  const lines = failed.map(({ org_id, kind, name, message }) => `\n  ${org_id} ${kind} ${name}: ${message}`)
  const left = lines.length === 0 ? '' : `\nNot opened and left as they are: ${lines.length}${lines.join('')}`
  return `Sealed anew: ${sealed}. Key ${key} seals${before}.${left}`
}

const facts = ({ now }: Talk, secret: SecretView): Facts => [
  ['name', secret.name],
  ['hosts', secret.hosts.join(', ')],
  ['used by', secret.used_by.length === 0 ? null : secret.used_by.join(', ')],
  ['value set', momentText(secret.value_set_at, now)],
  ['key', secret.key_id],
  ['made', momentText(secret.created_at, now)],
]
