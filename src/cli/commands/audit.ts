import type { Command } from 'commander'
import { auditFilter, type AuditVerdict, type AuditView } from '../../features/audit/schema.ts'
import { oneLine, valueText } from '../output/text.ts'
import { filtersOf } from '../remote/schema-options.ts'
import { printJson } from '../remote/show.ts'
import { commandOf, remote, type Desk, type Talk } from '../remote/talk.ts'
import { addList } from '../resource.ts'
import { EXIT, type ExitCode } from '../terminal.ts'

/** `escapement audit …`: who has changed what, and whether the record is whole. */
export function addAudit(group: Command, desk: Desk): void {
  addList<AuditView>(desk, commandOf(group, 'list', 'list changes, newest first'), {
    filter: filtersOf(auditFilter),
    none: 'Nothing was changed.',
    read: (talk, query) => talk.client.audit.list(query),
    columns: () => [
      { title: 'NO', of: ({ no }) => String(no), right: true },
      { title: 'AT', of: ({ at }) => at },
      { title: 'BY', of: ({ actor }) => actor, flexible: true },
      { title: 'ACTION', of: ({ action }) => action },
      { title: 'OBJECT', of: ({ object }) => object.id, flexible: true },
      { title: 'CHANGED', of: ({ before, after }) => changedText(before, after), flexible: true },
    ],
  })
  const verify = commandOf(group, 'verify', 'verify the audit chain; the exit code is 1 unless it is whole').option(
    '--anchor <hash>',
    'hash of an earlier head that must still be in the chain',
  )
  remote<{ readonly anchor?: string }>(desk, verify, {
    names: { '/anchor': '--anchor' },
    work: async (talk, _, { anchor }) => {
      await talk.note('Walking the record …\n')
      const question = anchor === undefined ? {} : { anchor }
      return showVerdict(talk, await talk.client.audit.verify(question, { timeoutMs: VERIFY_MS }))
    },
  })
}

/** A long record takes its time. */
const VERIFY_MS = 600_000

/** The fields that are not what they were; of something new or gone, nothing: the action says so. */
function changedText(before: unknown, after: unknown): string {
  if (!isObject(before) || !isObject(after)) return ''
  return Object.keys(after)
    .filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
    .map((name) => `${name}: ${valueText(before[name])} → ${valueText(after[name])}`)
    .join(', ')
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

async function showVerdict(talk: Talk, verdict: AuditVerdict): Promise<ExitCode> {
  if (talk.json) await printJson(talk, verdict)
  else {
    const { records, head, faults } = verdict
    const word = verdict.ok ? talk.style.green('whole') : talk.style.red('not whole')
    await talk.print(`The record of ${verdict.org_id} is ${word}: ${records} changes were looked at.\n`)
    for (const { no, message } of faults) await talk.print(`  ${no === null ? '' : `${no}: `}${oneLine(message)}\n`)
    if (head !== null) await talk.print(`Head: ${head.no} ${head.hash}\n`)
    if (verdict.ok && head !== null) await talk.note('Keep that hash elsewhere, and bring it next time as --anchor.\n')
  }
  return verdict.ok ? EXIT.ok : EXIT.refused
}
