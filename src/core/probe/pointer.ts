/** What stands at a JSON pointer; undefined: nothing does. The pointer was read before. */
export function valueAt(value: unknown, pointer: string): unknown {
  if (pointer === '') return value
  let found = value
  for (const part of pointer.slice(1).split('/')) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined
    // A list has a length as well, and nobody who writes JSON means that.
    if (Array.isArray(found) && !/^(?:0|[1-9]\d*)$/.test(name)) return undefined
    found = (found as Readonly<Record<string, unknown>>)[name]
  }
  return found
}
