import type { HeartbeatInput, HeartbeatView } from '../../../src/features/heartbeats/schema.ts'
import type { FieldSpec, FormValues } from '../../forms/field.ts'

type Body = Readonly<Record<string, unknown>>

const FIRST: readonly FieldSpec[] = [
  { path: 'enabled', label: 'beats.enabled', kind: 'flag' },
  {
    ...{ path: 'checklist.text', label: 'beats.checklist', kind: 'area', hint: 'beats.checklistHint' },
    example: '- …',
  },
  { path: 'checklist.file', label: 'beats.file', kind: 'code', hint: 'beats.fileHint' },
  { path: 'interval_seconds', label: 'beats.interval', kind: 'number', isRequired: true },
  { path: 'target', label: 'beats.target', kind: 'code', hint: 'beats.targetHint', example: 'last' },
  { path: 'active_hours.start', label: 'beats.from', kind: 'code', hint: 'beats.hoursHint', example: '08:00' },
  { path: 'active_hours.end', label: 'beats.until', kind: 'code', example: '20:00' },
  { path: 'active_hours.timezone', label: 'beats.zone', kind: 'code', example: 'Europe/Berlin' },
  { path: 'is_adaptive', label: 'beats.adaptive', kind: 'flag', hint: 'beats.adaptiveHint' },
]
const ADAPTIVE: readonly FieldSpec[] = [
  { path: 'adaptive.ok_step', label: 'beats.okStep', kind: 'number' },
  { path: 'adaptive.max_interval_seconds', label: 'beats.longest', kind: 'number' },
]
const LAST: readonly FieldSpec[] = [
  { path: 'probe', label: 'probe.title', kind: 'json', hint: 'probe.json.hint' },
  { path: 'prompt', label: 'beats.prompt', kind: 'area', hint: 'beats.promptHint' },
  { path: 'ack_max_chars', label: 'beats.ack', kind: 'number', hint: 'beats.ackHint' },
  { path: 'session', label: 'beats.session', kind: 'code' },
]

/** The fields of a heartbeat; those of an interval that grows only where it does. */
export const heartbeatFields = (values: FormValues): readonly FieldSpec[] => [
  ...FIRST,
  ...(values['is_adaptive'] === true ? ADAPTIVE : []),
  ...LAST,
]

/** What the fields begin with. */
export const thingOf = (heartbeat: HeartbeatView): unknown => ({
  ...heartbeat,
  is_adaptive: heartbeat.adaptive !== null,
})

/** The whole heartbeat: what was left empty takes its default. */
export function inputOf({ is_adaptive: isAdaptive, checklist, adaptive, ...body }: Body): HeartbeatInput {
  const { text, file } = (checklist ?? {}) as { readonly text?: string; readonly file?: string }
  const looked = file !== undefined ? { file } : text !== undefined ? { text } : null
  return {
    ...(body as HeartbeatInput),
    checklist: looked,
    adaptive: isAdaptive === true ? (adaptive ?? true) : null,
  }
}
