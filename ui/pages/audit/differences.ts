/** A field that is not as it was. Undefined: it was not there, or is not there any more. */
export interface Difference {
  readonly path: string
  readonly before: unknown
  readonly after: unknown
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** What two things differ in, field by field, as deep as both are objects. Lists are compared whole. */
export function differencesOf(before: unknown, after: unknown, path = ''): readonly Difference[] {
  if (isObject(before) || isObject(after)) {
    const [was, is] = [isObject(before) ? before : {}, isObject(after) ? after : {}]
    const names = [...new Set([...Object.keys(was), ...Object.keys(is)])].sort()
    return names.flatMap((name) => differencesOf(was[name], is[name], path === '' ? name : `${path}.${name}`))
  }
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [{ path, before, after }]
}
