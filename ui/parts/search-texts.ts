type Given = Readonly<Record<string, unknown>>

const textOf = (given: unknown): string => (typeof given === 'string' || typeof given === 'number' ? String(given) : '')

/** Texts of the address by name, without the empty ones. */
export function textsOf<Name extends string>(
  given: Given,
  names: readonly Name[],
): { readonly [Key in Name]?: string } {
  const found = names.map((name) => [name, textOf(given[name])] as const).filter(([, text]) => text !== '')
  return Object.fromEntries(found) as { readonly [Key in Name]?: string }
}
