import type { ProbeInput } from '../../../src/features/probes/schema.ts'
import { UNARY_OPERATORS, OPERATORS } from '../../../src/domain/probe/condition.ts'

/** How a condition compares; one of several values is written as JSON. */
export const PROBE_OPS = OPERATORS.filter((op) => op !== 'in')

/** What a form holds about what is asked first. */
export interface ProbeForm {
  readonly probe_as: 'none' | 'http' | 'json'
  readonly probe_url: string
  readonly probe_path: string
  /** Empty: every answer that says something is a yes. */
  readonly probe_op: string
  readonly probe_value: string
  readonly probe_changed: boolean
  readonly probe_on_error: string
  readonly probe_json: string
}

export const NO_PROBE: ProbeForm = {
  ...{ probe_as: 'none', probe_url: '', probe_path: '', probe_op: '', probe_value: '', probe_changed: false },
  ...{ probe_on_error: 'run', probe_json: '' },
}

/** Whether an operator wants something to compare with. */
export const takesValue = (op: string): boolean => op !== '' && !UNARY_OPERATORS.some((one) => one === op)

/** What the server takes; null: nothing is asked. JSON that is none goes as it is, and the server says so. */
export function probeInput(form: ProbeForm): unknown {
  const { probe_as: as, probe_op: op, probe_value: value, probe_path: path } = form
  if (as === 'none') return null
  if (as === 'json') return jsonOr(form.probe_json, form.probe_json)
  return {
    kind: 'http',
    url: form.probe_url.trim(),
    ...(op === '' ? {} : { when: { path, op, ...(takesValue(op) ? { value: jsonOr(value, value) } : {}) } }),
    ...(form.probe_changed ? { changed: true } : {}),
    ...(form.probe_on_error === 'fail' ? { on_error: 'fail' } : {}),
  }
}

function jsonOr(text: string, otherwise: unknown): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return otherwise
  }
}

type Clause = { readonly path?: unknown; readonly op?: unknown; readonly value?: unknown }

/** The form of a probe: fields where there are fields for all of it, else JSON. */
export function probeForm(probe: ProbeInput | null | undefined): ProbeForm {
  // A server of the release before says nothing about it.
  if (probe == null) return NO_PROBE
  const { kind, url, when, changed, on_error: onError, ...rest } = probe
  const clause = (when ?? {}) as Clause
  const json = JSON.stringify(probe, null, 2)
  const isPlain =
    kind === 'http' &&
    Object.values(rest).every((value) => value === null || value === undefined) &&
    Object.keys(clause).every((name) => ['path', 'op', 'value'].includes(name)) &&
    typeof changed !== 'string'
  if (!isPlain) return { ...NO_PROBE, probe_as: 'json', probe_json: json }
  return {
    ...{ probe_as: 'http', probe_url: url ?? '', probe_json: json },
    probe_path: typeof clause.path === 'string' ? clause.path : '',
    probe_op: typeof clause.op === 'string' ? clause.op : '',
    probe_value: clause.value === undefined ? '' : written(clause.value),
    probe_changed: changed === true,
    probe_on_error: onError ?? 'run',
  }
}

/** A text stands as it is, unless it would be read as something else. */
const written = (value: unknown): string =>
  typeof value === 'string' && jsonOr(value, null) === null ? value : JSON.stringify(value)
