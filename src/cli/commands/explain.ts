import type { Command } from 'commander'
import { namesOf, pastMoment, seconds, valuesOf, withFields, type FieldOption } from '../remote/fields.ts'
import { remote, type Desk } from '../remote/talk.ts'
import { showExplanation } from './explain-look.ts'
import { commandOf } from './group.ts'

const WHERE: readonly FieldOption[] = [
  { flags: '--schedule <id>', field: 'schedule_id', about: 'of this schedule; its clock is the one that counts' },
  { flags: '--agent <id>', field: 'agent_id', about: 'of this agent' },
  { flags: '--session <key>', field: 'session', about: 'of this session' },
  {
    flags: '--within <duration>',
    field: 'within_seconds',
    read: seconds,
    about: 'how far around a time is looked (5m)',
  },
]

const TIME = /^\d{4}-\d{2}-\d{2}(?:$|[Tt ])|^\d{1,2}:\d{2}/
const LENGTH = /^\d+(?:\.\d+)?(?:ms|s|m|h|d)/

/** `escapement explain …`: why something happened, or why nothing did. */
export function addExplain(program: Command, desk: Desk): void {
  const command = commandOf(program, 'explain <what>', 'say why: of a run, task, schedule … by its id, or of a time')
  remote(desk, withFields(command, WHERE), {
    names: { ...namesOf(WHERE), '/at': 'WHAT', '/id': 'WHAT' },
    work: async (talk, [what = ''], options) => {
      const now = talk.terminal.now()
      const where = valuesOf(WHERE, options, now)
      const asked = TIME.test(what)
        ? { at: what }
        : LENGTH.test(what)
          ? { at: String(pastMoment(what, { option: 'WHAT', now })) }
          : { id: what }
      await showExplanation(talk, await talk.client.explain.ask({ ...where, ...asked }))
    },
  })
}
