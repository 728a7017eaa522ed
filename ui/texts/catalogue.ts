import { channelTexts } from './features/channels.ts'
import { heartbeatTexts } from './features/heartbeats.ts'
import { backfillTexts } from './features/backfill.ts'
import { importTexts } from './features/import.ts'
import { agentTexts } from './features/agents.ts'
import { asCodeTexts } from './features/as-code.ts'
import { explainTexts } from './features/explain.ts'
import { forecastTexts } from './features/forecast.ts'
import { formTexts } from './forms.ts'
import { operationTexts } from './features/operations.ts'
import { queueTexts } from './features/lanes.ts'
import { settingTexts } from './features/settings.ts'
import { targetTexts } from './features/targets.ts'
import { chatTexts } from './features/sessions.ts'
import { commonTexts } from './common.ts'
import { draftTexts } from './editor/draft.ts'
import { editorTexts } from './editor/editor.ts'
import { overviewTexts } from './features/overview.ts'
import { policyTexts } from './editor/policies.ts'
import { paceTexts } from './editor/pace.ts'
import { probeTexts } from './editor/probe.ts'
import { providerTexts } from './features/providers.ts'
import { railTexts } from './features/restrictions.ts'
import { reasonTexts } from './reasons.ts'
import { oneRunTexts } from './features/run.ts'
import { runTexts } from './features/runs.ts'
import { scheduleOneTexts } from './features/schedule.ts'
import { scheduleTexts } from './features/schedules.ts'
import { shellTexts } from './shell.ts'
import { simulateTexts } from './features/simulation.ts'
import { stepTexts } from './steps.ts'
import { workTexts } from './work.ts'

/** Every text of the console. To add an area, add a file beside this one and a line to both lists. */
const en = {
  ...commonTexts.en,
  ...shellTexts.en,
  ...workTexts.en,
  ...reasonTexts.en,
  ...overviewTexts.en,
  ...scheduleTexts.en,
  ...importTexts.en,
  ...backfillTexts.en,
  ...asCodeTexts.en,
  ...editorTexts.en,
  ...draftTexts.en,
  ...policyTexts.en,
  ...scheduleOneTexts.en,
  ...runTexts.en,
  ...oneRunTexts.en,
  ...chatTexts.en,
  ...agentTexts.en,
  ...formTexts.en,
  ...operationTexts.en,
  ...queueTexts.en,
  ...railTexts.en,
  ...settingTexts.en,
  ...explainTexts.en,
  ...forecastTexts.en,
  ...paceTexts.en,
  ...probeTexts.en,
  ...providerTexts.en,
  ...channelTexts.en,
  ...heartbeatTexts.en,
  ...targetTexts.en,
  ...simulateTexts.en,
  ...stepTexts.en,
} as const

const zh: Readonly<Record<TextKey, string>> = {
  ...commonTexts.zh,
  ...shellTexts.zh,
  ...workTexts.zh,
  ...reasonTexts.zh,
  ...overviewTexts.zh,
  ...scheduleTexts.zh,
  ...importTexts.zh,
  ...backfillTexts.zh,
  ...asCodeTexts.zh,
  ...editorTexts.zh,
  ...draftTexts.zh,
  ...policyTexts.zh,
  ...scheduleOneTexts.zh,
  ...runTexts.zh,
  ...oneRunTexts.zh,
  ...chatTexts.zh,
  ...agentTexts.zh,
  ...formTexts.zh,
  ...operationTexts.zh,
  ...queueTexts.zh,
  ...railTexts.zh,
  ...settingTexts.zh,
  ...explainTexts.zh,
  ...forecastTexts.zh,
  ...paceTexts.zh,
  ...probeTexts.zh,
  ...providerTexts.zh,
  ...channelTexts.zh,
  ...heartbeatTexts.zh,
  ...targetTexts.zh,
  ...simulateTexts.zh,
  ...stepTexts.zh,
}

/** The names of all texts. */
export type TextKey = keyof typeof en

/** The English texts as literals: the type of the placeholders is derived from them. */
export type English = typeof en

export const LANGUAGES = ['en', 'zh'] as const
/** A language of the console. */
export type Language = (typeof LANGUAGES)[number]

/** Each language in its own name, so that users recognize theirs. */
export const LANGUAGE_NAMES: Readonly<Record<Language, string>> = { en: 'English', zh: '简体中文' }

/** The texts of a language. */
export const CATALOGUE: Readonly<Record<Language, Readonly<Record<TextKey, string>>>> = { en, zh }
