import type { Command } from 'commander'
import { auditFilter, type AuditVerdict, type AuditView } from './schema.ts'
import { oneLine, valueText } from '../../cli/output/text.ts'
import { filtersOf } from '../../cli/remote/schema-options.ts'
import { printJson } from '../../cli/remote/show.ts'
import { commandOf, remote, type CliContext, type CliCall } from '../../cli/remote/call.ts'
import { addList } from '../../cli/resource.ts'
import { EXIT, type ExitCode } from '../../cli/terminal.ts'

/** `escapement audit …`: the audit log and the verification of its chain. */
export function addAudit(group: Command, cli: CliContext): void {
  addList<AuditView>(cli, commandOf(group, 'list', 'list changes, newest first'), {
    filter: filtersOf(auditFilter),
    none: 'No changes.',
    read: (call, query) => call.client.audit.list(query),
    columns: () => [
      { title: '#', value: ({ no }) => String(no), right: true },
      { title: 'TIME', value: ({ at }) => at },
      { title: 'ACTOR', value: ({ actor }) => actor, flexible: true },
      { title: 'ACTION', value: ({ action }) => action },
      { title: 'OBJECT', value: ({ object }) => object.id, flexible: true },
      { title: 'CHANGES', value: ({ before, after }) => changedText(before, after), flexible: true },
    ],
  })
  const verify = commandOf(group, 'verify', 'verify the audit chain; exit with code 1 if it is broken').option(
    '--anchor <hash>',
    'hash of an earlier head that the chain must still contain',
  )
  remote<{ readonly anchor?: string }>(cli, verify, {
    names: { '/anchor': '--anchor' },
    work: async (call, _, { anchor }) => {
      await call.note('Verifying the audit chain …\n')
      const question = anchor === undefined ? {} : { anchor }
      return showVerdict(call, await call.client.audit.verify(question, { timeoutMs: VERIFY_TIMEOUT_MS }))
    },
  })
}

/** Time limit of a verification, which reads the whole log. */
const VERIFY_TIMEOUT_MS = 600_000

/** The changed fields of an update; empty for creations and deletions, which the action names. */
function changedText(before: unknown, after: unknown): string {
  if (!isObject(before) || !isObject(after)) return ''
  return Object.keys(after)
    .filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
    .map((name) => `${name}: ${valueText(before[name])} → ${valueText(after[name])}`)
    .join(', ')
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

async function showVerdict(call: CliCall, verdict: AuditVerdict): Promise<ExitCode> {
  if (call.json) await printJson(call, verdict)
  else {
    const { records, head, faults } = verdict
    const word = verdict.ok ? call.style.green('intact') : call.style.red('broken')
    await call.print(`The audit chain of ${verdict.org_id} is ${word}: verified ${records} records.\n`)
    for (const { no, message } of faults) await call.print(`  ${no === null ? '' : `${no}: `}${oneLine(message)}\n`)
    if (head !== null) await call.print(`Head: ${head.no} ${head.hash}\n`)
    if (verdict.ok && head !== null)
      await call.note('Store this hash elsewhere, and pass it to the next verification with --anchor.\n')
  }
  return verdict.ok ? EXIT.ok : EXIT.refused
}
