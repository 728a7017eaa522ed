import type { Command } from 'commander'
import { EscapementError } from '../../client/errors.ts'
import type { SecretInput, SecretPatch, RotationView, SecretView } from './schema.ts'
import { relativeTimeText, cliTimeText } from '../../cli/output/times.ts'
import { readSecretText } from '../../cli/remote/hidden-text.ts'
import { showOne, type Facts } from '../../cli/remote/show.ts'
import { commandOf, type CliContext, remote, type CliCall, UsageError } from '../../cli/remote/call.ts'
import { addAction, addGet, addList } from '../../cli/resource.ts'
import type { RecoverOptions } from './cli-recover.ts'
import { withDatabase } from '../../cli/serve-commands.ts'

interface SetOptions {
  readonly host?: readonly string[]
  readonly keepValue?: boolean
}

/** `escapement secrets …`: write-only values that agents send. */
export function addSecrets(group: Command, cli: CliContext): void {
  addList<SecretView>(cli, commandOf(group, 'list', 'list secrets, without their values'), {
    none: 'No secrets.',
    read: (call, query) => call.client.secrets.list(query),
    columns: ({ now }) => [
      { title: 'NAME', value: ({ name }) => name },
      { title: 'HOSTS', value: ({ hosts }) => hosts.join(' '), flexible: true },
      { title: 'USED BY', value: ({ used_by }) => used_by.join(' '), flexible: true },
      { title: 'UPDATED', value: ({ value_set_at }) => relativeTimeText(value_set_at, now) },
      { title: 'KEY', value: ({ key_id }) => key_id },
    ],
  })
  addGet(cli, commandOf(group, 'get <name>', 'show a secret and the agents that use it, without its value'), {
    facts: secretFacts,
    read: (call, [name = '']) => call.client.secrets.get(name),
  })
  const set = commandOf(group, 'set <name>', 'create or update a secret; reads the value from a prompt or a pipe')
    .option('--host <host...>', 'host the secret may be sent to, such as api.example.com or localhost:8080')
    .option('--keep-value', 'update only the hosts')
  remote<SetOptions>(cli, set, {
    names: { '/hosts': '--host' },
    work: async (call, [name = ''], options) => {
      const secret = await setSecret(call, name, options)
      await showOne(call, secret, () => secretFacts(call, secret))
    },
  })
  addAction(cli, commandOf(group, 'delete <name>', 'delete a secret that no agent uses'), {
    call: async (call, [name = '']) => {
      await call.client.secrets.delete(name)
      return { name, deleted: true }
    },
    resultText: (_, name) => `Deleted ${name}.`,
  })
  const rotateCommand = commandOf(group, 'rotate', 'encrypt all secrets again with the first key').option(
    '--new-key',
    'create a new key first; only for a key file with the embedded database',
  )
  addAction<RotationView, { readonly newKey?: boolean }>(cli, rotateCommand, {
    call: (call, _, { newKey = false }) => call.client.secrets.rotate({ new_key: newKey }),
    resultText: rotationText,
    isSuccess: ({ failed }) => failed.length === 0,
  })
  const recover = commandOf(group, 'recover', 'replace a lost encryption key; works without a running server')
  withDatabase(recover)
    .requiredOption('--lost-key <id>', 'id of the lost key; lists the secrets that must be entered again')
    .option('--json', 'print JSON for programs')
    .action(async (options: RecoverOptions) => {
      const { runRecover } = await import('./cli-recover.ts')
      cli.settle(await runRecover(cli.terminal, options))
    })
}

async function setSecret(call: CliCall, name: string, options: SetOptions): Promise<SecretView> {
  const { host: hosts, keepValue = false } = options
  if (keepValue && hosts === undefined) throw new UsageError('--keep-value requires --host')
  const value = keepValue ? undefined : await readSecretText(call.terminal, `Value of ${name} (hidden): `)
  const change: SecretPatch = { value, hosts }
  try {
    return await call.client.secrets.update(name, change)
  } catch (error) {
    if (!(error instanceof EscapementError) || error.code !== 'NOT_FOUND' || keepValue) throw error
  }
  // Without a host, the server returns the error for the missing field.
  return call.client.secrets.create({ name, ...change } as SecretInput)
}

function rotationText({ previous_key_id: previous, failed, sealed_anew: sealed, key_id: key }: RotationView): string {
  const before = previous === null ? '' : ` (previously ${previous})`
  const lines = failed.map(({ org_id, kind, name, message }) => `\n  ${org_id} ${kind} ${name}: ${message}`)
  const left = lines.length === 0 ? '' : `\nCould not decrypt ${lines.length}, left unchanged:${lines.join('')}`
  return `Encrypted ${sealed} again with key ${key}${before}.${left}`
}

const secretFacts = ({ now }: CliCall, secret: SecretView): Facts => [
  ['name', secret.name],
  ['hosts', secret.hosts.join(', ')],
  ['used by', secret.used_by.length === 0 ? null : secret.used_by.join(', ')],
  ['updated', cliTimeText(secret.value_set_at, now)],
  ['key', secret.key_id],
  ['created', cliTimeText(secret.created_at, now)],
]
