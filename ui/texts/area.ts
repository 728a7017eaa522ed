/** Declares the texts of an area. English says which there are; `{name}` is filled in, `{count|run|runs}` chooses. */
export function area<const English extends Readonly<Record<string, string>>>(texts: {
  readonly en: English
  readonly zh: { readonly [Key in keyof English]: string }
}): { readonly en: English; readonly zh: { readonly [Key in keyof English]: string } } {
  return texts
}
