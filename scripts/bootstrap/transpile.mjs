/**
 * Strips the types from a source, because Node can't run TypeScript. The compiler would take fifty times as long; `npm run
 * check` and `npm run build` check the types. `transformSync` is that of rolldown, passed in because this file is loaded
 * before packages are installed.
 */
export function transpile(transformSync, file, text) {
  const { code, errors, helpersUsed } = transformSync(file, text, {
    tsconfig: false,
    typescript: { onlyRemoveTypeImports: true, rewriteImportExtensions: 'rewrite' },
  })
  const [error] = errors
  if (error !== undefined) throw new Error(`${file} cannot be transpiled: ${error.message}`)
  const [helper] = Object.keys(helpersUsed)
  if (helper !== undefined)
    throw new Error(`${file} cannot be transpiled: it needs the helper ${helper}, which is not installed`)
  return code
}
