/** Declares the texts of an area. English defines the keys; `{name}` is a placeholder, `{count|run|runs}` a plural. */
export function area<const English extends Readonly<Record<string, string>>>(texts: {
  readonly en: English
  readonly zh: { readonly [Key in keyof English]: string }
}): { readonly en: English; readonly zh: { readonly [Key in keyof English]: string } } {
  return texts
}
