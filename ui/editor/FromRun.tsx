import { Checkbox, Switch } from '@mantine/core'
import { IconMessageCircle } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { ProposedRequirement, ScheduleProposal } from '../../src/features/schedules/views-schema.ts'
import { useSay } from '../texts/TextProvider.tsx'
import { spanText } from '../time/span.ts'
import { useEditor } from './context.ts'
import { isRequired, withRequirement } from './form/draft-form.ts'

interface FromRunProps {
  readonly proposal: ScheduleProposal
}

/** Where a new schedule comes from: what was read out of the conversation, and what can be chosen about it. */
export function FromRun({ proposal }: FromRunProps): ReactNode {
  const say = useSay()
  const { requirements } = proposal
  return (
    <section className="edit-section from-run" style={{ order: 0 }} aria-label={say('draft.title')}>
      <h3>
        <IconMessageCircle size={15} aria-hidden /> {say('draft.title')}
      </h3>
      <ul className="from-run-facts">
        <Prompt proposal={proposal} />
        <When proposal={proposal} />
        <Goes proposal={proposal} />
        <Took proposal={proposal} />
      </ul>
      {requirements.length > 0 && <Requirements requirements={requirements} />}
      <Conversation proposal={proposal} />
    </section>
  )
}

function RunLink({ id, text }: { readonly id: string; readonly text: string }): ReactNode {
  return (
    <Link to="/automation/runs/$id" params={{ id }} className="door door-seen">
      {text}
    </Link>
  )
}

function Prompt({ proposal }: FromRunProps): ReactNode {
  const say = useSay()
  const { run_id: run, prompt_run_id: asked } = proposal
  return (
    <li>
      {say(asked === run ? 'draft.prompt' : 'draft.prompt.earlier')} <RunLink id={asked} text={say('draft.run')} />
    </li>
  )
}

/** What was said about when; where nothing was, it has to be said now. */
function When({ proposal: { timing } }: FromRunProps): ReactNode {
  const say = useSay()
  const { form } = useEditor()
  if (timing !== null)
    return (
      <li>
        {say('draft.when', { words: timing.words, sentence: timing.sentence })}
        {timing.notes.map((note) => (
          <span key={note} className="quiet">
            {' '}
            ({note})
          </span>
        ))}
      </li>
    )
  const isSaid = form.kind === 'every' || [form.at, form.cron, form.rrule].some((text) => text !== '')
  return isSaid ? null : <li className="from-run-asks">{say('draft.when.unsaid')}</li>
}

function Goes({ proposal: { target, conversation } }: FromRunProps): ReactNode {
  const say = useSay()
  const { form } = useEditor()
  if (target !== null && form.target_id === target.id) return <li>{say('draft.target', { name: target.name })}</li>
  const channel = conversation?.channel ?? null
  return channel === null || form.target_id !== null ? null : <li>{say('draft.target.none', { channel })}</li>
}

function Took({ proposal: { observed } }: FromRunProps): ReactNode {
  const say = useSay()
  const { duration_ms: ms, usage } = observed
  if (ms === null) return null
  const tokens = (usage?.input_tokens ?? 0) + (usage?.output_tokens ?? 0)
  const took = spanText(ms, say)
  return <li>{tokens === 0 ? say('draft.took', { took }) : say('draft.took.tokens', { took, tokens })}</li>
}

function Requirements({ requirements }: { readonly requirements: readonly ProposedRequirement[] }): ReactNode {
  const say = useSay()
  const { form, set } = useEditor()
  return (
    <fieldset className="from-run-wishes" disabled={form.payload_as === 'json'}>
      <legend>{say('draft.requirements')}</legend>
      {requirements.map(({ id, text, said }) => (
        <Checkbox
          key={id}
          {...{ size: 'xs', label: text, checked: isRequired(form.output, text) }}
          {...(said === null ? {} : { description: say('draft.said', { words: said }) })}
          onChange={(event) => set({ output: withRequirement(form.output, text, event.currentTarget.checked) })}
        />
      ))}
    </fieldset>
  )
}

/** Whether runs begin anew or go on in the conversation, and what each means. */
function Conversation({ proposal: { conversation } }: FromRunProps): ReactNode {
  const say = useSay()
  const { form, set } = useEditor()
  if (conversation === null) return null
  const { key, earlier } = conversation
  const goesOn = form.session_as === 'named' && form.session === key
  const means = goesOn
    ? say('draft.goesOn.yes')
    : earlier === 0
      ? say('draft.goesOn.first')
      : say('draft.goesOn.no', { count: earlier })
  return (
    <Switch
      {...{ size: 'xs', checked: goesOn, label: say('draft.goesOn') }}
      description={means}
      onChange={(event) =>
        set(
          event.currentTarget.checked ? { session_as: 'named', session: key } : { session_as: 'isolated', session: '' },
        )
      }
    />
  )
}
