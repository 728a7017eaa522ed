import { createRequire } from 'node:module'
import { transformSync } from 'rolldown/utils'
import type ts from 'typescript'

/**
 * A source without its types, for child processes: Node does not read TypeScript. The compiler would take fifty times
 * as long for all of them, and whether the types are right is asked elsewhere.
 */
export function transpile(file: string, text: string): string {
  const { code, errors, helpersUsed } = transformSync(file, text, {
    tsconfig: false,
    typescript: { onlyRemoveTypeImports: true, rewriteImportExtensions: 'rewrite' },
  })
  const [error] = errors
  if (error !== undefined) throw new Error(`${file} cannot be compiled: ${error.message}`)
  // A page with a script in a tagged template, for one: this would import a package that nobody has installed.
  return Object.keys(helpersUsed).length === 0 ? code : transpileSlowly(file, text)
}

function transpileSlowly(file: string, text: string): string {
  const compiler = createRequire(import.meta.url)('typescript') as typeof ts
  return compiler.transpileModule(text, {
    compilerOptions: {
      target: compiler.ScriptTarget.ES2023,
      module: compiler.ModuleKind.ESNext,
      verbatimModuleSyntax: true,
      rewriteRelativeImportExtensions: true,
    },
    fileName: file,
  }).outputText
}
