import { describe, expect, it } from 'vitest'
import { formOfDraft, isRequired, withRequirement } from '../../ui/editor/form/draft-form.ts'
import { newInput } from '../../ui/editor/form/input-of.ts'

const payload = { prompt: 'Look', context: { attachments: [1] }, output: 'Be brief. Answer in German.' }
const draft = { name: 'Look', agent_id: 'writer', payload, timezone: 'Europe/Berlin' }

describe('the form of a draft', () => {
  it('says what the draft says, and when only where it does', () => {
    expect(newInput(formOfDraft({ ...draft, cron: '0 9 * * 1-5', delivery: { target_id: 'tgt_1' } }))).toMatchObject({
      ...{ ...draft, cron: '0 9 * * 1-5', delivery: { target_id: 'tgt_1' } },
    })
    expect(formOfDraft({ ...draft, every_seconds: 7_200, session: 'a:b' })).toMatchObject({
      ...{ kind: 'every', every: 2, unit: 'hours', session_as: 'named', session: 'a:b', context: { attachments: [1] } },
    })
    expect(formOfDraft(draft)).toMatchObject({ kind: 'cron', cron: '', payload_as: 'text' })
  })

  it('takes requirements in and out of what somebody wrote', () => {
    expect(isRequired(payload.output, 'Be brief.')).toBe(true)
    expect(withRequirement(payload.output, 'Be brief.', false)).toBe('Answer in German.')
    expect(withRequirement('Mine.', 'Be brief.', true)).toBe('Mine. Be brief.')
    expect(withRequirement('Mine.', 'Be brief.', false)).toBe('Mine.')
  })
})
