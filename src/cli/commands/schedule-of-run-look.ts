import type { ProposedRequirement, ScheduleProposal } from '../../contract/schedule-draft.ts'
import type { PreviewView } from '../../contract/schedule-preview.ts'
import type { ScheduleInput } from '../../contract/schedule.ts'
import { largest } from '../../domain/long-lists.ts'
import { renderFacts } from '../output/table.ts'
import { manyLines, oneLine, valueText } from '../output/text.ts'
import { lengthText } from '../output/times.ts'
import type { Facts } from '../remote/show.ts'
import type { Talk } from '../remote/talk.ts'
import { figuresText } from './forecast-look.ts'
import { showPreview } from './schedule-answers.ts'

/** A schedule that could be made, and what it is based on. */
export interface Composed {
  readonly proposal: ScheduleProposal
  readonly schedule: ScheduleInput
  /** Null: nobody has said when. */
  readonly preview: PreviewView | null
}

/** What whoever has not said when is told. */
export const NOBODY_SAYS_WHEN =
  'Nobody has said when it is to happen, and nobody guesses: give --when "every weekday at 9 in Berlin", --cron, --every, --at or --rrule'

/** Shows what would be made of a run, and what can be chosen; what whoever reads it can do next is told at its end. */
export async function showComposed(
  talk: Talk,
  { proposal, schedule, preview }: Composed,
  { untimed, then }: { readonly untimed: string; readonly then: string },
): Promise<void> {
  await talk.print(renderFacts(factsOf(proposal, schedule), talk))
  if (proposal.requirements.length > 0)
    await talk.print(
      `\nRequirements (--keep chooses):\n${requirementLines(proposal.requirements, schedule).join('\n')}\n`,
    )
  await talk.print('\n')
  if (preview === null) await talk.print(`${untimed}.\n`)
  else {
    await showPreview(talk, preview)
    const { figures } = await talk.client.schedules.forecast(schedule)
    await talk.print(`\nExpected in the next 30 days: ${figuresText(figures)}\n`)
  }
  await talk.print(`${then}\n`)
}

function factsOf(proposal: ScheduleProposal, schedule: ScheduleInput): Facts {
  const { prompt, output, context } = asPrompt(schedule.payload)
  const { conversation, observed, target, timing } = proposal
  const { tokens, took } = { tokens: tokensIn(proposal), took: observed.duration_ms }
  return [
    ['name', oneLine(schedule.name ?? '')],
    ['agent', schedule.agent_id ?? 'the default agent'],
    ['prompt', manyLines(prompt)],
    [
      '',
      proposal.prompt_run_id === proposal.run_id
        ? null
        : `the message of ${proposal.prompt_run_id}: this run only wanted its answer otherwise`,
    ],
    ['context', context],
    ['output', output],
    ['said when', timing === null ? null : `"${oneLine(timing.words)}" (${timing.run_id})`],
    ['session', schedule.session ?? 'isolated: each run begins anew'],
    [
      '',
      (schedule.session ?? null) === null && conversation !== null && conversation.earlier > 0
        ? `it will not know the ${conversation.earlier} messages before it; --in-conversation goes on in ${conversation.key}`
        : null,
    ],
    ['deliver to', deliveryText(proposal, schedule, target)],
    ['timeout', (schedule.timeout_seconds ?? null) === null ? null : `${String(schedule.timeout_seconds)} s`],
    ['it took', took === null ? null : `${lengthText(took)}${tokens === null ? '' : `, ${tokens} tokens`}`],
  ]
}

function deliveryText(
  { conversation }: ScheduleProposal,
  { delivery }: ScheduleInput,
  target: ScheduleProposal['target'],
): string | null {
  if ((delivery ?? null) !== null)
    return target !== null && delivery?.target_id === target.id
      ? `${target.name} (${target.id})`
      : (delivery?.target_id ?? null)
  const channel = conversation?.channel ?? null
  return channel === null
    ? null
    : `nowhere: no target leads back to the channel ${channel}; make one, or give --deliver-to`
}

function tokensIn({ observed: { usage } }: ScheduleProposal): number | null {
  const [input, output] = [usage?.input_tokens, usage?.output_tokens]
  return input === undefined && output === undefined ? null : (input ?? 0) + (output ?? 0)
}

function asPrompt(payload: unknown): {
  readonly prompt: string
  readonly output: string | null
  readonly context: string | null
} {
  if (typeof payload !== 'object' || payload === null || !('prompt' in payload))
    return { prompt: valueText(payload), output: null, context: null }
  const { prompt, output, context } = payload as Readonly<Record<string, unknown>>
  const shown = (value: unknown): string | null => (value === undefined ? null : oneLine(valueText(value)))
  return { prompt: valueText(prompt), output: shown(output), context: shown(context) }
}

function requirementLines(requirements: readonly ProposedRequirement[], { payload }: ScheduleInput): readonly string[] {
  const { output } = asPrompt(payload)
  const widest = largest(requirements.map(({ id }) => id.length))
  return requirements.map(({ id, text, said }) => {
    const mark = output?.includes(text) === true ? '[x]' : '[ ]'
    const words = said === null ? '' : `   said: "${oneLine(said)}"`
    return `  ${mark} ${id.padEnd(widest)}  ${oneLine(text)}${words}`
  })
}
