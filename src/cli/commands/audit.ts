import type { Command } from 'commander'
import type { AuditVerdict, AuditView } from '../../contract/audit.ts'
import type { Column } from '../output/table.ts'
import { oneLine, valueText } from '../output/text.ts'
import { namesOf, pastMoment, valuesOf, withFields, type FieldOption } from '../remote/fields.ts'
import { printJson, readPages, showList, withPages, type PageOptions } from '../remote/show.ts'
import { remote, type Desk, type Talk } from '../remote/talk.ts'
import { EXIT, type ExitCode } from '../terminal.ts'
import { commandOf, groupOf } from './group.ts'

const FILTER: readonly FieldOption[] = [
  { flags: '--actor <id>', field: 'actor', about: 'by this key or member' },
  { flags: '--action <action>', field: 'action', about: 'as in schedule.update' },
  { flags: '--object-kind <kind>', field: 'object_kind', about: 'of things of this kind' },
  { flags: '--object <id>', field: 'object_id', about: 'of this thing' },
  { flags: '--from <time>', field: 'from', read: pastMoment, about: 'since a time, or so long ago, as in 7d' },
  { flags: '--to <time>', field: 'to', read: pastMoment, about: 'before a time, or so long ago' },
]

/** `escapement audit …`: who has changed what, and whether the record is whole. */
export function addAudit(program: Command, desk: Desk): void {
  const group = groupOf(program, 'audit', 'see who has changed what, and verify the record')
  remote<PageOptions>(desk, withPages(withFields(commandOf(group, 'list', 'list changes, newest first'), FILTER)), {
    names: namesOf(FILTER),
    work: async (talk, _, options) => {
      const filter = valuesOf(FILTER, options, talk.terminal.now())
      const page = await readPages(talk, options, (asked) => talk.client.audit.list({ ...filter, ...asked }))
      await showList(talk, page, { columns: COLUMNS, none: 'Nothing was changed.' })
    },
  })
  const verify = commandOf(
    group,
    'verify',
    'walk the whole record; the exit code is 1 when something is wrong with it',
  ).option('--anchor <hash>', 'a hash of the head that was kept elsewhere: it must still be there')
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

const COLUMNS: readonly Column<AuditView>[] = [
  { title: 'NO', of: ({ no }) => String(no), right: true },
  { title: 'AT', of: ({ at }) => at },
  { title: 'BY', of: ({ actor }) => actor, flexible: true },
  { title: 'ACTION', of: ({ action }) => action },
  { title: 'OBJECT', of: ({ object }) => object.id, flexible: true },
  { title: 'CHANGED', of: ({ before, after }) => changedText(before, after), flexible: true },
]

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
